"""Who may import a library that opens connections, and why that leads to no customer's address.

All HTTP requests to other servers go through ``app.outbound``. Nothing else of the service touches
the network, but for these modules, each with the libraries that it may import.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase

from tests.architecture.sources import Sources, dotted, imported, parse

EGRESS = ("app.outbound", "app.outbound.*")

# Libraries that connect, or that others connect with.
_LIBRARIES = """
    _socket _ssl aiohttp asyncio boto3 dns eventlet ftplib gevent grpc http.client httplib2 httpx
    httpx2 httpcore httpcore2 h2 h11 imaplib kombu multiprocessing.connection nntplib openai
    paramiko poplib psycopg psycopg2 pycurl redis requests rq smtplib socket
    socketserver socks ssl telnetlib tornado trio twisted urllib.request urllib3 valkey websocket
    websockets xmlrpc.client
"""
NETWORK = frozenset(_LIBRARIES.split())
_IMPORTERS = ("importlib.import_module", "import_module", "__import__")

_VALKEY = "Valkey at REDIS_URL, which the operator sets"
_OWN = "sockets of this machine: its own port, and those of its own processes"

# module: (libraries, why it does not connect to customers' addresses)
OTHER_WAYS: dict[str, tuple[str, str]] = {
    "app.api.expensive": ("socket", "looks whether a client has closed its connection"),
    "app.cli.secret_key": ("redis", "Valkey's own exception"),
    "app.cli.group": ("importlib", "modules of this package, which ``ENTRIES`` names"),
    "app.cli.webhook_receiver": (
        "socket ssl",
        "a receiver for development, to which others connect",
    ),
    "app.geometry.timed_program": ("importlib", "modules of this application"),
    "app.imports.features.reader_process": ("socket", _OWN),
    "app.imports.features.reader_program": ("socket", _OWN),
    "app.jobs.wake_signals": ("redis", _VALKEY),
    "app.jobs.queue": ("redis rq", _VALKEY),
    "app.db.postgresql.connection": ("psycopg", "the database at DATABASE_URL"),
    "app.db.snapshots": ("psycopg", "likewise"),
    "app.db.postgresql.unconfirmed": ("psycopg", "the driver's own exception"),
    "app.jobs.shared_metrics": ("redis", _VALKEY),
    "app.monitoring.readings": ("redis socket", f"{_VALKEY}; this machine's own name"),
    "app.jobs.valkey": ("redis", _VALKEY),
    "app.jobs.valkey_client": ("redis", f"{_VALKEY}; with Sentinels, the server that they name"),
    "app.jobs.after_commit": ("redis", _VALKEY),
    "app.limits.forgetting": ("redis", _VALKEY),
    "app.jobs.registry": ("rq", _VALKEY),
    "app.settings.values": ("ssl", "looks whether a file has certificates"),
    "app.mail.jobs": ("rq", "the queue's own exception"),
    "app.mail.smtp": ("smtplib socket ssl", "the server at MAIL_URL; recipients are no hosts"),
    "app.doctor.checks.valkey": ("redis", _VALKEY),
    "app.doctor.jobs": ("rq", "the queue's own exception"),
    "app.doctor.doctor": ("redis", "Valkey's own exception"),
    "app.processes.instance_lock": ("socket", _OWN),
    "app.processes.embedded_valkey": ("socket", _OWN),
    "app.processes.job_worker": ("redis", _VALKEY),
    "app.processes.rq_worker": ("redis rq", _VALKEY),
    "app.processes.part_registry": ("redis socket", f"{_VALKEY}; this machine's own name"),
    "app.processes.worker_registry": ("redis", _VALKEY),
    "app.processes.web_server.gunicorn_worker": ("socket", "connections that clients opened"),
    "app.processes.web_server.lingering_close": ("socket", "likewise"),
    "app.processes.web_server.refusals": ("socket", "likewise"),
    "app.processes.web_server.response_buffer": ("socket", "likewise"),
    "app.preload": ("http.client socket", _OWN),
    "app.processes.supervisor": ("socket", _OWN),
    "app.jobs.scheduler": ("redis", _VALKEY),
    "app.usage.jobs": ("redis", _VALKEY),
    "app.limits.request_counts": ("redis", _VALKEY),
    "app.webhooks.deliveries.jobs": ("redis", _VALKEY),
    "app.doctor.doctor_runs": ("redis", _VALKEY),
    "app.pages.operator.overview": ("redis", _VALKEY),
}


def other_ways(known: Sources) -> Iterator[str]:
    """Imports of libraries that connect, in modules that may not have them."""
    for module, source in known.items():
        if any(fnmatchcase(module, pattern) for pattern in EGRESS):
            continue
        allowed = OTHER_WAYS.get(module, ("", ""))[0].split()
        for node in ast.walk(parse(source)):
            for library in used(node):
                if library not in allowed:
                    yield f"{module}:{node.lineno} uses {library}"  # type: ignore[attr-defined]


def used(node: ast.AST) -> set[str]:
    """The libraries that a statement or a call brings in."""
    names = imported(node)
    if isinstance(node, ast.Call) and dotted(node.func) in _IMPORTERS:
        names = [part.value for part in node.args if isinstance(part, ast.Constant)]
        if not names:
            return {"importlib"}  # by a name that is not written out
    return {library for name in names if (library := _library(str(name)))}


def _library(name: str) -> str | None:
    """``urllib3`` of ``urllib3.connection``; None for what does not connect."""
    parts = name.split(".")
    heads = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
    return next((head for head in heads if head in NETWORK), None)
