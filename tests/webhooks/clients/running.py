"""Programs that receive webhooks: those of ``docs/webhooks.md``, as they stand there, and those in
this folder. Each runs in a folder of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from config import ROOT
from tests.captured import captured
from tests.docs.pages import blocks
from tests.node import NODE, modules
from tests.ports import free_port
from tests.waiting import wait_for

SECONDS: Final = 60
LANGUAGES: Final = ("python", "javascript")


def receiver_of_the_page(language: str) -> str:
    """The whole receiver of the page in a language; it alone imports something."""
    page = (ROOT / "docs" / "webhooks.md").read_text()
    begins = {"python": '"""Receives', "javascript": "// Receives"}[language]
    (found,) = (
        each.text
        for each in blocks(page)
        if each.language == language and each.text.startswith(begins)
    )
    return found


class RunningReceiver:
    """A receiver in a process of its own, and what it has printed."""

    def __init__(self, language: str, folder: Path, certificate: Path, **environ: str) -> None:
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}/canopy"
        self.kept = folder / "events.jsonl"
        self.lines: list[list[str]] = []
        self.process = subprocess.Popen(
            _command(language, receiver_of_the_page(language), folder),
            cwd=folder,
            env=_environment(
                RECEIVER_PORT=str(self.port),
                PORT="8000",  # as in a shell for bin/serve; the receiver must leave it alone
                CERTIFICATE=str(certificate),
                **environ,
            ),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self._wait_until_it_listens()

    def printed(self, number: int) -> list[list[str]]:
        """The words of its lines, as soon as there are so many."""
        wait_for(lambda: len(self.lines) >= number)
        return list(self.lines)

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(SECONDS)
        self._reader.join(SECONDS)

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            for line in output:
                if line.startswith(("project.", "webhook.")):
                    self.lines.append(line.split())

    def _wait_until_it_listens(self) -> None:
        def listens() -> bool:
            assert self.process.poll() is None, "the receiver did not start"
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return True
            return False

        wait_for(listens)


@contextmanager
def running_receiver(
    language: str, folder: Path, certificate: Path, **environ: str
) -> Iterator[RunningReceiver]:
    made = RunningReceiver(language, folder, certificate, **environ)
    try:
        yield made
    finally:
        made.end()


def run_script(name: str, folder: Path, given: Any) -> Any:
    """What a script of this folder says of a JSON document."""
    code = (Path(__file__).parent / name).read_text()
    done = captured(
        _command("javascript", code, folder),
        cwd=folder,
        env=_environment(),
        input=json.dumps(given),
        timeout=SECONDS,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def _command(language: str, code: str, folder: Path) -> list[str]:
    """How a program is run that lies in a folder; JavaScript finds the packages of the tests."""
    if language == "python":
        (folder / "receiver.py").write_text(code)
        return [sys.executable, "receiver.py"]
    if not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(modules())
    (folder / "receiver.mjs").write_text(code)
    return [str(NODE), "receiver.mjs"]


def _environment(**environ: str) -> Mapping[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environ}
