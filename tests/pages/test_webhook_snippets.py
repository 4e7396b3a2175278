"""The programs on the page of a webhook, run against signed requests.

Python and JavaScript are always run; the others where their tools are installed.
"""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from flask import Flask

from app.pages.webhooks.webhook.snippets import LANGUAGES, snippets_for
from app.security.webhook_signing import new_secret, signature_headers
from tests.node import NODE
from tests.ports import free_port
from tests.waiting import wait_for
from tests.webhooks.deliveries.makers import MOMENT

PATH: Final = "/in/canopy.x-1"
BODY: Final = '{"id": "evt_1", "name": "Wald am Fluß — 森 \U0001f332"}\n'.encode()
# What builds a program before it is run.
BUILDS: Final = {"go": ["go", "build", "-o", "receiver", "receiver.go"]}
BUILD_SECONDS: Final = 180
# The file of each program, and the command that runs it.
PROGRAMS: Final[dict[str, tuple[str, Callable[[str], list[str]]]]] = {
    "python": (
        "receiver.py",
        lambda port: [sys.executable, "-m", "flask", "--app", "receiver", "run", "--port", port],
    ),
    "javascript": ("receiver.mjs", lambda _: [str(NODE), "receiver.mjs"]),
    "php": ("receiver.php", lambda port: ["php", "-S", f"127.0.0.1:{port}", "receiver.php"]),
    "go": ("receiver.go", lambda _: ["./receiver"]),
    "ruby": ("config.ru", lambda port: ["rackup", "--host", "127.0.0.1", "--port", port]),
    "java": ("Receiver.java", lambda _: ["java", "Receiver.java"]),
}


@contextmanager
def running(app: Flask, language: str, folder: Path, secrets: str) -> Iterator[int]:
    """The program of a language, listening; gives its port."""
    name, command = PROGRAMS[language]
    port = free_port()
    words = command(str(port))
    tool = BUILDS.get(language, words)[0]
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed: the program in {LANGUAGES[language]} is not run")
    with app.test_request_context():
        programs = {each.key: each.text for each in snippets_for(f"https://example.org{PATH}")}
    (folder / name).write_text(programs[language])
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "PORT": str(port),
        "WEBHOOK_SECRET": secrets,
    }
    if language in BUILDS:
        subprocess.run(
            BUILDS[language], cwd=folder, env=environment, check=True, timeout=BUILD_SECONDS
        )
    process = subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

    def listens() -> bool:
        assert process.poll() is None, f"the program in {LANGUAGES[language]} did not start"
        return _post(port, b"", None) != 0

    try:
        wait_for(listens)
        yield port
    finally:
        process.terminate()
        process.wait(60)


def _post(port: int, body: bytes, signature: str | None) -> int:
    """The status of the answer; 0 while nothing listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {} if signature is None else {"X-Service-Signature": signature}
    try:
        connection.request("POST", PATH, body, headers)
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.slow
def test_a_program_takes_signed_requests_alone(app: Flask, tmp_path: Path, language: str) -> None:
    new, former, other = new_secret(), "a-few-words-of-mine", new_secret()

    def signature(secret: str) -> str:
        return signature_headers((secret,), "evt_1", MOMENT, BODY)["X-Service-Signature"]

    with running(app, language, tmp_path, f"{new} {former}") as port:
        assert _post(port, BODY, signature(new)) == 204
        assert _post(port, BODY, signature(former)) == 204
        assert _post(port, BODY + b" ", signature(new)) == 401
        for wrong in (signature(other), "", "sha256=", "x" * 71, "sha256=\xe9", None):
            assert _post(port, BODY, wrong) == 401, wrong
        digest = signature(new).removeprefix("sha256=")
        assert _post(port, BODY, digest) == 401


def test_each_language_has_a_program(app: Flask) -> None:
    assert list(PROGRAMS) == list(LANGUAGES)
    with app.test_request_context():
        found = snippets_for("https://example.org/a")
    assert [each.key for each in found] == list(LANGUAGES)
    assert all("WEBHOOK_SECRET" in each.text and "whsec_" not in each.text for each in found)
