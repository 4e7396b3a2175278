"""How gunicorn serves the application, by itself or in ``bin/serve``:

gunicorn -c gunicorn.conf.py wsgi:app
"""
# ruff: noqa: E402 - the folder of the metrics must be set before they are imported

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from app.processes.metrics_folder import (
    forget_process,
    remove_metrics_folder,
    set_metrics_folder,
)
from config import SettingsError, load_settings

try:
    settings = load_settings()
except SettingsError as problem:
    sys.stderr.write(f"{problem}\n")
    sys.exit(2)

set_metrics_folder(settings)  # a reload by SIGHUP keeps it

from app.db import connections
from app.jobs.valkey import connect_valkey
from app.policy.files import FORM_BYTES
from app.processes.embedded_valkey import redis_url
from app.processes.part_registry import Announcer
from app.security.sealing import key_check

_host = f"[{settings.host}]" if ":" in settings.host else settings.host
bind = f"{_host}:{settings.port}"
backlog = 2048

# gthread, with our error responses
worker_class = "app.processes.web_server.gunicorn_worker.EnvelopeWorker"
workers = settings.web_workers
threads = settings.web_threads
preload_app = True  # errors of the application stop the start, and the processes share memory
keepalive = 5
timeout = 15  # seconds until a web process that shows no sign of life is killed
graceful_timeout = 7  # seconds for requests in flight; everything has to stop within 10

# A worker touches a file to show that it is alive. It is in memory, as a slow disk would look like
# death.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - unlinked at once

# For bodies that are too large for memory.
tmp_upload_dir = str(settings.instance_path)

worker_connections = 1000  # in each process; beyond, the one that has waited longest is closed

limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 8190

# The application reads the client's address, by TRUSTED_PROXIES.
forwarded_allow_ips = ""

# All instances of a user would share its socket.
control_socket_disable = True

accesslog = None  # the application logs requests itself
errorlog = "-"
loglevel = settings.log_level


def on_starting(server: Any) -> None:
    """Let the application's handler write gunicorn's lines."""
    server.log.error_log.handlers.clear()
    server.log.error_log.propagate = True


def post_fork(server: Any, worker: Any) -> None:
    """Let a web process open its own database connections, and announce it."""
    worker.max_body_bytes = settings.max_body_bytes
    worker.trusted_proxies = settings.trusted_proxies
    worker.max_upload_bytes = settings.max_import_bytes + FORM_BYTES
    with server.app.wsgi().app_context():
        connections.forget_all()
    check = key_check(settings.secret_key)
    worker.announcer = Announcer(lambda: connect_valkey(redis_url(settings)), "web server", check)
    worker.announcer.start()


def worker_exit(_: Any, worker: Any) -> None:
    """Withdraw the announcement of a web process."""
    if announcer := getattr(worker, "announcer", None):  # absent if the process did not start
        announcer.stop()


def on_exit(server: Any) -> None:
    """Free the memory of the metrics, and close the database."""
    remove_metrics_folder()
    connections.close_at_end(server.app.wsgi())


def child_exit(_: Any, worker: Any) -> None:
    forget_process(worker.pid)
