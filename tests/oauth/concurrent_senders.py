"""Sends one form to the token endpoint many times concurrently, from several processes.

``python -m tests.oauth.concurrent_senders`` is one process. It reads the form and the number of
requests from standard input, writes "ready", waits for a line, sends, and writes the responses.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from flask import Flask

from app import create_app
from config import ROOT, load_settings
from tests.make.together import together

PROCESSES = 4


def send_concurrently(app: Flask, form: Mapping[str, str], times: int) -> list[tuple[int, Any]]:
    """The statuses and bodies of ``times`` responses to one form, from all processes."""
    command = [sys.executable, "-W", "error", "-m", "tests.oauth.concurrent_senders"]
    options: dict[str, Any] = {
        "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT,
    }  # fmt: skip
    running = [
        subprocess.Popen(command, env=_environment(app), **options) for _ in range(PROCESSES)
    ]
    try:
        for process in running:
            _write_line(process, json.dumps({"form": form, "times": times // PROCESSES}))
        for process in running:
            assert process.stdout.readline() == "ready\n"
        for process in running:
            _write_line(process, "go")
        responses = [json.loads(process.communicate(timeout=60)[0]) for process in running]
    finally:
        for process in running:
            process.kill()
            process.wait()
    return [(status, body) for part in responses for status, body in part]


def _write_line(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def _environment(app: Flask) -> dict[str, str]:
    settings = app.config["SETTINGS"]
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ
    }
    return environment | {
        "DATABASE_URL": settings.database_url,
        "INSTANCE_PATH": str(settings.instance_path),
        "REDIS_URL": settings.redis_url,
        "SECRET_KEY": settings.secret_key,
        "LOG_LEVEL": "error",
        "DATABASE_TIMEOUT_MS": "20000",
    }


def main() -> None:
    job = json.loads(sys.stdin.readline())
    app = create_app(load_settings())
    app.test_client().get("/readyz")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    responses = together(*[partial(_send, app, job["form"])] * job["times"])
    sys.stdout.write(json.dumps(responses))


def _send(app: Flask, form: Mapping[str, str]) -> tuple[int, Any]:
    response = app.test_client().post("/oauth/token", data=form)
    return response.status_code, response.json


if __name__ == "__main__":
    main()
