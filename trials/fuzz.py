"""The long run of ``tests/fuzz``: by default 5,000 requests and 50 sequences of changes.

It starts what it needs in a folder of its own, prints its seed and, for each operation, how often
it was answered with which status, and ends with 1 at the first fault, with the request that shows
it. ``--seed`` repeats a run.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flask import Flask
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from app.db.connections import close_all
from app.db.migrations import upgrade
from app.factory import create_app
from app.processes import embedded_valkey
from config import load_settings
from tests.api.operations import operations
from tests.fuzz.machine import Changes
from tests.fuzz.requests import run
from tests.postgres import PostgresServer
from trials.report import say


def main() -> int:
    """Run both kinds of tests on one database."""
    options = _options()
    say(f"seed {options.seed}, {options.database}")
    with _application(options.database) as app:
        began, total = time.monotonic(), 0
        share = max(2, options.cases // len(operations()))
        for operation in operations():
            answers = run(app, operation, number=share, start=options.seed)
            total += answers.total()
            shown = ", ".join(f"{n} × {status}" for status, n in sorted(answers.items()))
            say(f"{operation.name}: {shown}")
        _sequences(app, options.sequences, options.seed)
        seconds = time.monotonic() - began
        say(f"{total} requests and {options.sequences} sequences in {seconds:.0f} s, no fault")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bin/trials fuzz --", description=__doc__)
    parser.add_argument("--cases", type=int, default=5_000, help="requests in all")
    parser.add_argument("--sequences", type=int, default=50, help="sequences of 50 changes")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    return parser.parse_args()


@contextmanager
def _application(database: str) -> Iterator[Flask]:
    with tempfile.TemporaryDirectory(prefix="canopy-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        environ = {"INSTANCE_PATH": f"{folder}/instance", "LOG_LEVEL": "error"}
        environ["RATE_LIMIT_DISABLED"] = "true"  # far more requests than any plan allows
        environ["REDIS_URL"] = embedded_valkey.ensure_valkey(Path(folder) / "valkey")
        if database == "sqlite":
            yield from _served(environ)
        else:
            with PostgresServer(Path(folder) / "pg") as server:
                yield from _served(environ | {"DATABASE_URL": server.create_database()})


def _served(environ: dict[str, str]) -> Iterator[Flask]:
    app = create_app(load_settings(environ))
    with app.app_context():
        upgrade()
    yield app
    with app.app_context():
        close_all()


def _sequences(app: Flask, number: int, start: int) -> None:
    machine = type("Changes", (Changes,), {"app": app})
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        seed(start)(machine),
        settings=settings(
            max_examples=number,
            deadline=None,
            database=None,
            stateful_step_count=50,
            suppress_health_check=list(HealthCheck),
        ),
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
