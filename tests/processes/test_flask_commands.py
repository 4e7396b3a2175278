"""``flask run`` and the other commands of Flask and its extensions, as developers know them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from flask import Flask

from app.api.openapi.document import api_description
from app.db.revisions import newest_revision
from app.values.version import VERSION
from tests.architecture.sources import ROOT
from tests.make import second_app
from tests.ports import free_port
from tests.waiting import wait_for

pytestmark = pytest.mark.slow

BROKEN = "from wsgi import app\napp.add_url_rule('/v1/bees', view_func=lambda: 1 / 0)\n"


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """For commands with an instance of their own, that find an application with a fault."""
    (tmp_path / "broken.py").write_text(BROKEN)
    path = os.pathsep.join((str(ROOT), str(tmp_path)))
    return os.environ | {"INSTANCE_PATH": str(tmp_path / "instance"), "PYTHONPATH": path}


def flask(
    variables: dict[str, str], *words: str, input: str = ""
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "flask", "--app", "wsgi", *words]
    return subprocess.run(
        command, env=variables, input=input, text=True, capture_output=True, timeout=120
    )


@contextmanager
def running(variables: dict[str, str], log: Path, said: str, *words: str) -> Iterator[str]:
    """``flask run`` once it has said something, and its address."""
    port = free_port()
    command = [sys.executable, "-m", "flask", "--app", "broken", "run", "--port", str(port), *words]
    with log.open("w") as output:
        process = subprocess.Popen(
            command, env=variables, stdout=output, stderr=output, start_new_session=True
        )
    try:
        wait_for(lambda: said in log.read_text(), seconds=120)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does, to the reloader's child as well
        process.wait(60)


def broken(address: str) -> str:
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{address}/v1/bees", timeout=60)
    assert caught.value.code == 500
    return caught.value.read().decode()


def test_run_says_where_it_is_and_what_is_missing(
    variables: dict[str, str], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with running(variables, log, "CTRL+C to quit") as address:
        assert json.loads(broken(address))["error"]["code"] == "INTERNAL_ERROR"
    said = log.read_text()
    assert f" * Running on {address}\n" in said
    assert " * No worker is running: mails and webhooks wait. Start one: python worker.py\n" in said
    assert said.count("GET /v1/bees") == 1


@pytest.mark.trial
def test_an_error_opens_the_debugger(variables: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    with running(variables, log, "Debugger PIN", "--debug") as address:
        page = broken(address)
    assert "<title>ZeroDivisionError: division by zero\n // Werkzeug Debugger</title>" in page
    assert re.search(r" \* Debugger PIN: \d{3}-\d{3}-\d{3}\n", log.read_text())


def test_openapi_is_what_the_service_answers(
    variables: dict[str, str], tmp_path: Path, app: Flask
) -> None:
    file = tmp_path / "openapi.json"
    done = flask(variables, "openapi", "write", str(file))
    assert done.returncode == 0, done.stderr
    with second_app(app) as made, made.app_context():
        shown = api_description("http://127.0.0.1:8000")
    found = json.loads(file.read_text())
    assert found["info"]["version"] == VERSION
    assert found["paths"] == json.loads(json.dumps(shown["paths"]))


def test_limiter_shows_its_configuration(variables: dict[str, str]) -> None:
    done = flask(variables, "limiter", "config")
    assert done.returncode == 0, done.stderr
    assert "RATELIMIT_ENABLED" in done.stdout


def test_the_shell_has_the_models(variables: dict[str, str]) -> None:
    query = "print(db.session.scalar(db.select(db.func.count(Project.id))), Asset.__tablename__)\n"
    done = flask(variables, "shell", input=query)
    assert done.returncode == 0, done.stderr
    assert "0 assets" in done.stdout


def test_db_says_what_it_does(variables: dict[str, str]) -> None:
    upgraded = flask(variables, "db", "upgrade")
    assert upgraded.returncode == 0, upgraded.stderr
    assert re.search(rf"INFO    Running upgrade \d* -> {newest_revision()}, ", upgraded.stderr)
    checked = flask(variables, "db", "check")
    assert checked.returncode == 0, checked.stderr
    assert "No new upgrade operations detected." in checked.stdout
    assert "UserWarning" not in checked.stderr
