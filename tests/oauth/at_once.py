"""One form, sent to the token endpoint many times at once by several processes.

``python -m tests.oauth.at_once`` is one of them. It says that it is ready on standard output, waits
for a line, sends what the first line said so many times at once, and tells what was answered.
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


def send_at_once(app: Flask, form: Mapping[str, str], times: int) -> list[tuple[int, Any]]:
    """The statuses and bodies of ``times`` answers to one form, from all processes together."""
    command = [sys.executable, "-W", "error", "-m", "tests.oauth.at_once"]
    options: dict[str, Any] = {
        "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT,
    }  # fmt: skip
    running = [
        subprocess.Popen(command, env=_environment(app), **options) for _ in range(PROCESSES)
    ]
    try:
        for process in running:
            _tell(process, json.dumps({"form": form, "times": times // PROCESSES}))
        for process in running:
            assert process.stdout.readline() == "ready\n"
        for process in running:
            _tell(process, "go")
        answers = [json.loads(process.communicate(timeout=60)[0]) for process in running]
    finally:
        for process in running:
            process.kill()
            process.wait()
    return [(status, body) for part in answers for status, body in part]


def _tell(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def _environment(app: Flask) -> dict[str, str]:
    settings = app.config["SETTINGS"]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept | {
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
    answers = together(*[partial(_send, app, job["form"])] * job["times"])
    sys.stdout.write(json.dumps(answers))


def _send(app: Flask, form: Mapping[str, str]) -> tuple[int, Any]:
    response = app.test_client().post("/oauth/token", data=form)
    return response.status_code, response.json


if __name__ == "__main__":
    main()
