"""What ``flask run`` lacks and ``bin/serve`` has: a worker, and the browser code of pages."""

from __future__ import annotations

from collections.abc import Iterator

from app.jobs.valkey import valkey
from app.processes.worker_registry import count_workers
from app.site.static_files import has_third_party


def missing_parts() -> Iterator[str]:
    """A sentence for each, with the command that brings it. Needs an app context."""
    workers = valkey().attempt(count_workers)
    if workers is not None and not all(workers.values()):
        yield "No worker is running: mails and webhooks wait. Start one: python worker.py"
    if not has_third_party():
        yield "Pages have no maps without their browser code. Get it: python bin/_third_party.py"
