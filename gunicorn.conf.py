"""How gunicorn serves the application, started by ``bin/serve`` or by hand:

gunicorn -c gunicorn.conf.py wsgi:app
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from config import SettingsError, load_settings

try:
    settings = load_settings()
except SettingsError as problem:
    sys.exit(str(problem))

# Counts of all processes are added up in files, which must be named before anything is counted.
# A reload by SIGHUP reads this file again, and keeps them.
if settings.metrics_token and "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    counts = settings.instance_path / "metrics"
    shutil.rmtree(counts, ignore_errors=True)
    counts.mkdir(mode=0o700)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(counts)

from prometheus_client import multiprocess  # not before: it reads the variable when imported

from app.db import connections
from app.running.parent_pipe import exit_with_supervisor

_host = f"[{settings.host}]" if ":" in settings.host else settings.host
bind = f"{_host}:{settings.port}"
backlog = 2048

worker_class = "app.running.gunicorn_worker.EnvelopeWorker"  # gthread, with our own error answers
workers = settings.web_workers
threads = settings.web_threads
preload_app = True  # a fault in the application stops the start, and the processes share memory
keepalive = 5
graceful_timeout = 7  # seconds for requests in flight; with the worker's and Valkey's ends below 10

# A worker shows that it lives by touching a file; in memory, for a slow disk looks like a death.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - unlinked at once

limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 8190

# Who may be believed about the client's address is TRUSTED_PROXIES' matter, in the application.
forwarded_allow_ips = ""

# Its socket would be shared by all instances of one user.
control_socket_disable = True

accesslog = None  # the application logs requests itself
errorlog = "-"
loglevel = settings.log_level


def on_starting(server: Any) -> None:
    """The application has set up logging by now: its handler writes gunicorn's lines too."""
    server.log.error_log.handlers.clear()
    server.log.error_log.propagate = True
    exit_with_supervisor(graceful_timeout + 2)


def post_fork(server: Any, _: Any) -> None:
    """A web process lives no longer than the supervisor either, and opens connections itself."""
    exit_with_supervisor(graceful_timeout + 2)
    with server.app.wsgi().app_context():
        connections.forget_all()


def child_exit(_: Any, worker: Any) -> None:
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
