"""A whole instance, as ``bin/serve`` runs it, delivers to the receivers of ``docs/webhooks.md``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config import ROOT
from tests.make.apps import CHEAP_PASSWORDS
from tests.outbound.receivers import Authority
from tests.ports import free_port
from tests.webhooks.clients.running import LANGUAGES, running_receiver

pytestmark = pytest.mark.slow

START_SECONDS = 120


class Instance:
    """An instance that may reach this machine, and a caller with a key of its one account."""

    def __init__(self, folder: Path, authority: Authority) -> None:
        self.port = free_port()
        self.environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            **CHEAP_PASSWORDS,
            "INSTANCE_PATH": str(folder),
            "PORT": str(self.port),
            "PYTHONPATH": str(ROOT),
            "WEB_WORKERS": "1",
            "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
            "WEBHOOK_CA_BUNDLE": str(authority.ca_path),
        }
        nothing = subprocess.DEVNULL
        command = [sys.executable, "-P", "-m", "app.serve", "--empty"]
        self.serving = subprocess.Popen(
            command, env=self.environment, cwd=ROOT, stdout=nothing, stderr=nothing
        )

    def wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.serving.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=30):
                    return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the instance did not start")

    def make_key(self) -> str:
        account = ("--name", "Green Woods", "--owner-email", "owner@example.org")
        made = self._canopy("account", "create", *account)
        given = ("--account", made["account_id"], "--name", "test", "--permission", "admin")
        return str(self._canopy("key", "create", *given)["key"])

    def _canopy(self, *arguments: str) -> Any:
        command = [sys.executable, "-P", "-m", "app.cli", *arguments, "--json"]
        done = subprocess.run(
            command, env=self.environment, cwd=ROOT, text=True, capture_output=True, check=True
        )
        return json.loads(done.stdout)

    def post(self, key: str, path: str, body: Any) -> Any:
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        address = f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(
            address, b"" if body is None else json.dumps(body).encode(), headers
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["data"]


@pytest.fixture
def instance(scratch: Path, authority: Authority) -> Iterator[Instance]:
    folder = scratch / "delivers"
    folder.mkdir()
    made = Instance(folder, authority)
    try:
        made.wait()
        yield made
    finally:
        made.serving.terminate()
        made.serving.wait(60)


@pytest.mark.trial
def test_a_running_instance_delivers_to_both_receivers_of_the_page(
    instance: Instance, certificate: Path, tmp_path: Path
) -> None:
    key = instance.make_key()
    for language in LANGUAGES:
        folder, secret = tmp_path / language, f"the-secret-of-{language}"
        folder.mkdir()
        with running_receiver(language, folder, certificate, WEBHOOK_SECRET=secret) as running:
            body = {"url": running.url, "events": ["project.created"], "secret": secret}
            webhook = instance.post(key, "/v1/webhooks", body)
            instance.post(key, f"/v1/webhooks/{webhook['id']}/test", None)
            assert running.printed(1)[0][0] == "webhook.test"
            project = instance.post(key, "/v1/projects", {"name": f"Wood of {language}"})
            assert running.printed(2)[1][0] == "project.created"
        kept = [json.loads(line) for line in running.kept.read_text().splitlines()]
        assert kept[1]["data"]["id"] == project["id"]
