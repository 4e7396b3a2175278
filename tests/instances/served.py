"""An instance as ``bin/serve`` runs it: its database, Valkey, logs and mails are in one folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.db.connections import close_all
from app.factory import create_app
from app.processes import embedded_valkey
from config import ROOT, load_settings
from tests.instances.customers import OUTSIDE, Instance
from tests.make.apps import CHEAP_PASSWORDS
from tests.outbound.authority import make_authority
from tests.ports import free_port
from tests.processes.instances import Marked

END_SECONDS = 15


@dataclass
class Served(Instance):
    """The processes of the instance can be found by their mark."""

    process: subprocess.Popen[str]
    marked: Marked

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None


@contextmanager
def served(
    folder: Path,
    elsewhere: Path,
    *,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Served]:
    """An instance in ``folder``.

    Args:
        elsewhere: for what is no part of the instance.
        settings: of the instance, besides those that are needed here.
    """
    authority, marked, port = make_authority(elsewhere), Marked(folder), free_port()
    environ = {
        "INSTANCE_PATH": str(folder),
        "PORT": str(port),
        "WEBHOOK_ALLOWED_NETWORKS": f"{OUTSIDE}/32",
        "WEBHOOK_CA_BUNDLE": str(authority.ca_path),
        **CHEAP_PASSWORDS,
        **(settings or {}),
    }
    with ExitStack() as stack, (elsewhere / "serve.log").open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "app.serve", "--empty"],
            cwd=ROOT,
            env=marked.environment | environ,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        stack.callback(_end, process, marked)
        assert process.stdout is not None
        is_ready = process.stdout.readline().startswith("Canopy is at")
        assert is_ready, (elsewhere / "serve.log").read_text()
        app = create_app(load_settings(environ))
        stack.callback(embedded_valkey.release_valkey, folder)
        stack.callback(_close, app)
        yield Served(folder, app, port, authority, stack, process, marked)


def _close(app: object) -> None:
    with app.app_context():  # type: ignore[attr-defined]
        close_all()


def _end(process: subprocess.Popen[str], marked: Marked) -> None:
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
    assert process.stdout is not None
    process.stdout.close()
    marked.kill_all()
