"""Sends one form to the token endpoint many times concurrently, from several processes.

``python -m tests.oauth.concurrent_senders`` is one process. It writes "ready" and then reads lines:
it sends the form of each that many times concurrently, and writes the responses.
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

from app.factory import create_app
from config import ROOT, load_settings
from tests.make.together import together

PROCESSES = 2


class Senders:
    """The processes, which are started once: each takes a second to be ready."""

    def __init__(self, app: Flask) -> None:
        command = [sys.executable, "-W", "error", "-m", "tests.oauth.concurrent_senders"]
        options: dict[str, Any] = {
            "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT,
        }  # fmt: skip
        self._running = [
            subprocess.Popen(command, env=_environment(app), **options) for _ in range(PROCESSES)
        ]
        for process in self._running:
            assert process.stdout.readline() == "ready\n"

    def send(self, form: Mapping[str, str], times: int) -> list[tuple[int, Any]]:
        """The statuses and bodies of ``times`` responses to one form, from all of them together."""
        job = json.dumps({"form": form, "times": times // PROCESSES})
        for process in self._running:
            process.stdin.write(f"{job}\n")
            process.stdin.flush()
        responses = [json.loads(process.stdout.readline()) for process in self._running]
        return [(status, body) for part in responses for status, body in part]

    def end(self) -> None:
        for process in self._running:
            process.kill()
            process.communicate()


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
    app = create_app(load_settings())
    app.test_client().get("/readyz")
    _print("ready")
    for line in sys.stdin:
        job = json.loads(line)
        responses = together(*[partial(_send, app, job["form"])] * job["times"])
        _print(json.dumps(responses))


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _send(app: Flask, form: Mapping[str, str]) -> tuple[int, Any]:
    response = app.test_client().post("/oauth/token", data=form)
    return response.status_code, response.json


if __name__ == "__main__":
    main()
