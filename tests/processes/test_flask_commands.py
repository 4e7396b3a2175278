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
from app.db.extensions import db
from app.db.migrations import use_flask_migrate
from app.values.version import VERSION
from tests.architecture.sources import ROOT
from tests.make import second_app
from tests.ports import free_port
from tests.processes.instances import Marked
from tests.waiting import wait_for

BROKEN = "from wsgi import app\napp.add_url_rule('/v1/bees', view_func=lambda: 1 / 0)\n"


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """For commands with an instance of their own, that find an application with a fault."""
    (tmp_path / "broken.py").write_text(BROKEN)
    path = os.pathsep.join((str(ROOT), str(tmp_path)))
    return os.environ | {"INSTANCE_PATH": str(tmp_path / "instance"), "PYTHONPATH": path}


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


@pytest.mark.slow
def test_run_says_where_it_is_and_what_is_missing(
    variables: dict[str, str], tmp_path: Path, marked: Marked
) -> None:
    """It starts Valkey too, so that no request waits for it."""
    log, variables = tmp_path / "log", variables | marked.environment
    with running(variables, log, "CTRL+C to quit") as address:
        assert len(marked.pids("unixsocket:")) == 1
        assert json.loads(broken(address))["error"]["code"] == "INTERNAL_ERROR"
        with urllib.request.urlopen(f"{address}/readyz", timeout=60) as response:
            checks = json.load(response)["checks"]
        assert checks == {"database": "ok", "storage": "ok", "worker": "missing"}  # with its tables
    wait_for(lambda: not marked.pids())
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


def test_openapi_is_what_the_service_answers(app: Flask, tmp_path: Path) -> None:
    file = tmp_path / "openapi.json"
    done = app.test_cli_runner().invoke(args=["openapi", "write", str(file)])
    assert done.exit_code == 0, done.output
    found = json.loads(file.read_text())
    assert found["info"]["version"] == VERSION
    with app.app_context():
        assert found["paths"] == json.loads(json.dumps(api_description("http://a")["paths"]))


def test_the_shell_has_the_models(app: Flask) -> None:
    with app.app_context():
        context = app.make_shell_context()
    assert (context["Project"].__tablename__, context["db"]) == ("projects", db)


@pytest.mark.slow
def test_db_finds_nothing_to_upgrade(app: Flask) -> None:
    with second_app(app) as made:
        use_flask_migrate(made)
        done = made.test_cli_runner().invoke(args=["db", "check"])
    assert done.exit_code == 0, done.output
