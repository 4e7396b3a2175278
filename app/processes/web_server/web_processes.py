"""The web processes of ``bin/serve``: gunicorn's workers without gunicorn's parent process, as the
application is the parent of all parts."""

from __future__ import annotations

import os
import sys
from typing import Any

from gunicorn.app.wsgiapp import WSGIApplication  # type: ignore[import-untyped]
from gunicorn.arbiter import Arbiter  # type: ignore[import-untyped]
from gunicorn.sock import create_sockets  # type: ignore[import-untyped]

from config import ROOT


class WebServer:
    """gunicorn with its settings, the application, and processes to be forked.

    Args:
        listener: descriptor of the listening socket, which this object closes.
    """

    def __init__(self, listener: int) -> None:
        configuration = ["-c", str(ROOT / "gunicorn.conf.py"), "--bind", f"fd://{listener}"]
        sys.argv = ["gunicorn", *configuration, "wsgi:app"]
        self._arbiter: Any = Arbiter(WSGIApplication())
        self._arbiter.LISTENERS = create_sockets(self._arbiter.cfg, self._arbiter.log)
        self._arbiter.cfg.on_starting(self._arbiter)
        count = self._arbiter.cfg.workers
        self.processes = [WebProcess(self._arbiter, number + 1) for number in range(count)]

    def close(self) -> None:
        """Stop listening, in this process."""
        for listener in self._arbiter.LISTENERS:
            listener.close()


class WebProcess:
    """One of the processes that serve requests."""

    def __init__(self, arbiter: Any, number: int) -> None:
        self._arbiter = arbiter
        self._worker = arbiter.worker_class(
            number, os.getpid(), arbiter.LISTENERS, arbiter.app, arbiter.timeout / 2, arbiter.cfg,
            arbiter.log,
        )  # fmt: skip

    def last_sign(self) -> float:
        """Return when the process last showed that it is alive (monotonic)."""
        updated_at: float = self._worker.tmp.last_update()
        return updated_at

    def run(self) -> None:
        """Serve requests until SIGTERM, in the forked process."""
        self._worker.pid = os.getpid()
        try:
            self._arbiter.cfg.post_fork(self._arbiter, self._worker)
            self._worker.init_process()
        finally:
            self._arbiter.cfg.worker_exit(self._arbiter, self._worker)
