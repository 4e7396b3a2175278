"""``bin/canopy webhook``: a receiver on this machine, the list, and a test."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from flask import Flask

from app.cli import webhooks
from app.cli.certificates import ensure_certificates
from app.db.extensions import db
from app.models import Webhook
from app.security.sealing import unseal
from config import ROOT, Settings
from tests.captured import piped
from tests.cli.conftest import Run, runner
from tests.make import Client, events, make_project, second_app
from tests.make.webhooks import deliveries, make_webhook, make_webhook_at
from tests.outbound.conftest import LOOPBACK
from tests.ports import free_port
from tests.waiting import PATIENCE, wait_for
from tests.webhooks.job import deliver_due, forget_deliveries


class Listener:
    """The command as a process of its own."""

    def __init__(self, client: Client, *options: str) -> None:
        settings: Settings = client.app.config["SETTINGS"]
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "INSTANCE_PATH": str(settings.instance_path),
            "DATABASE_URL": settings.database_url,
            "REDIS_URL": settings.redis_url or "",
        }
        given = ("webhook", "listen", "--account", client.account_id, "--port", "0", *options)
        self.process = piped(
            [sys.executable, "-P", "-m", "app.cli", *given], env=environment, cwd="/"
        )
        assert self.process.stderr is not None
        self.greeting = self.process.stderr.readline()
        found = re.match(r"https://127\.0\.0\.1:\d+/ is the webhook (wh_\w+) of ", self.greeting)
        assert found, self.greeting + self.process.stderr.read()
        self.webhook_id = found[1]

    def line(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def end(self) -> tuple[int, str, str]:
        """Its exit code, and what else it printed."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(PATIENCE)
        return code, self.process.stdout.read(), self.process.stderr.read()


@pytest.fixture
def start(client: Client) -> Iterator[Callable[..., Listener]]:
    """Starts the command, as people do."""
    with ExitStack() as stack:

        def start(*options: str) -> Listener:
            made = Listener(client, *options)
            stack.callback(made.process.communicate)
            stack.callback(made.process.kill)
            return made

        forget_deliveries(client.app)
        yield start


@pytest.fixture
def listen(client: Client, run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs the command in this process, which starts much sooner. It does ``act`` while it listens,
    and then it is ended."""
    forget_deliveries(client.app)

    def listen(*options: str, act: Callable[[], object] = lambda: None) -> Any:
        monkeypatch.setattr(webhooks, "_stop_on_signals", lambda: _Ending(act))
        given = ("--account", client.account_id, *options)
        return run("webhook", "listen", *given, *(() if "--port" in given else ("--port", "0")))

    return listen


class _Ending:
    """In the place of the event that ends the command. It acts when the command first waits for
    something, and ends it when there is nothing more to look for."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act: Callable[[], object] | None = act

    def wait(self, seconds: float | None = None) -> bool:
        if self._act is not None:
            self._act()
            self._act = None
        return seconds is None


def deliver(app: Flask, **settings: Any) -> None:
    """Deliver what is due, as a service with these settings does."""
    with second_app(app, **settings) as service:
        deliver_due(service)


def deliver_here(app: Flask) -> None:
    """As one does that was started as the command says."""
    authority = ensure_certificates(app.config["SETTINGS"].instance_path).authority
    deliver(app, webhook_allowed_networks=LOOPBACK, webhook_ca_bundle=authority)


@pytest.mark.slow
def test_listen_prints_what_comes_and_removes_its_webhook(
    client: Client, start: Callable[..., Listener]
) -> None:
    listener = start()
    wait_for(lambda: deliveries(client))
    make_project(client)
    deliver_here(client.app)
    test, created = (event for event in events(client))
    lines = sorted((listener.line(), listener.line()), key=lambda line: test["id"] not in line)
    ids = {row["event_id"]: row["id"] for row in deliveries(client)}
    for line, event in zip(lines, (test, created), strict=True):
        told = line.rstrip("\n").split("  ")
        assert [word.strip() for word in told[1:] if word] == [
            event["type"], event["id"], ids[event["id"]], "signatures valid, answered 200",
        ]  # fmt: skip
    assert listener.end() == (0, "", "")
    assert client.get("/v1/webhooks").json["data"] == []


def test_listen_with_events_and_a_status(client: Client, listen: Callable[..., Any]) -> None:
    subscribed = []

    def act() -> None:
        subscribed.extend(each["events"] for each in client.get("/v1/webhooks").json["data"])
        make_project(client)
        deliver_here(client.app)

    result = listen("--events", "project.deleted", "--events", "asset.created",
                    "--status", "503", "--bodies", act=act)  # fmt: skip
    assert subscribed == [["project.deleted", "asset.created"]]
    line, _, body = result.stdout.partition("\n")
    assert line.endswith("signatures valid, answered 503")
    (event,) = (each for each in events(client) if each["type"] == "webhook.test")
    assert json.loads(body) == event
    assert result.exit_code == 0
    assert "did not deliver" not in result.stderr


@pytest.mark.slow
def test_listen_says_how_the_service_has_to_be_started(
    client: Client, listen: Callable[..., Any]
) -> None:
    result = listen(act=lambda: deliver(client.app))
    said = result.stderr.splitlines()
    assert said[1].endswith("the test: address not allowed")
    authority = client.app.config["SETTINGS"].instance_path / "webhook-listen" / "ca.pem"
    assert authority.is_file()
    setting = f"WEBHOOK_ALLOWED_NETWORKS=127.0.0.0/8 WEBHOOK_CA_BUNDLE={authority} bin/serve"
    assert setting in result.stderr
    assert (result.exit_code, result.stdout) == (0, "")


def test_listen_asks_whether_the_service_runs(
    client: Client, listen: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "TEST_SECONDS", 0)
    result = listen()
    assert (result.exit_code, result.stdout) == (0, "")
    assert "there was no attempt within 0 seconds; is it running?" in result.stderr
    assert "WEBHOOK_CA_BUNDLE=" in result.stderr
    assert client.get("/v1/webhooks").json["data"] == []


def test_listen_removes_what_one_that_was_killed_has_left(
    client: Client, listen: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "TEST_SECONDS", 0)
    port = str(free_port())
    with monkeypatch.context() as killed:
        killed.setattr(webhooks, "_remove_webhook", lambda *_: None)
        listen("--port", port)
    (left,) = client.get("/v1/webhooks").json["data"]
    other = make_webhook_at(client, f"https://127.0.0.1:{port}/")
    during: list[str] = []
    result = listen(
        "--port",
        port,
        act=lambda: during.extend(each["id"] for each in client.get("/v1/webhooks").json["data"]),
    )
    assert result.exit_code == 0
    assert left["id"] not in during
    assert other["id"] in during
    assert len(during) == 2
    assert [each["id"] for each in client.get("/v1/webhooks").json["data"]] == [other["id"]]


def test_listen_without_a_port(client: Client, listen: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = listen("--port", port)
    assert result.exit_code == 1
    assert f"Port {port} cannot be used" in result.stderr
    assert client.get("/v1/webhooks").json["data"] == []


def test_listen_knows_the_types_of_events(run: Run, client: Client) -> None:
    result = run("webhook", "listen", "--account", client.account_id, "--events", "project.flown")
    assert result.exit_code == 2
    assert "project.flown" in result.stderr


def test_list_shows_those_of_the_account(run: Run, client: Client, stranger: Client) -> None:
    arguments = ("webhook", "list", "--account", client.account_id)
    assert run(*arguments, "--json").stdout == "[]\n"
    assert "has no webhook" in run(*arguments).stdout
    made, _ = make_webhook(client), make_webhook(stranger)
    (listed,) = json.loads(run(*arguments, "--json").stdout)
    assert listed == {name: value for name, value in made.items() if name != "secret"}
    text = run(*arguments).stdout
    assert made["url"] in text
    assert made["secret"] not in text


def test_test_queues_a_test(run: Run, client: Client) -> None:
    webhook = make_webhook(client, enabled=False)
    result = run("webhook", "test", webhook["id"], "--json")
    (event,) = events(client)
    expected = {"event_id": event["id"], "event_type": "webhook.test", "status": "queued"}
    assert json.loads(result.stdout) == expected
    (row,) = deliveries(client, webhook["id"])
    assert (row["cause"], row["state"]) == ("test", "pending")


def test_test_of_a_webhook_that_there_is_not(run: Run, client: Client) -> None:
    for webhook_id in ("wh_01k9zq3mgse2j7tbyw5c4r8nhd", "a\x00b"):
        result = run("webhook", "test", webhook_id)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "There is no webhook" in result.stderr
    webhook = make_webhook(client)
    client.delete(f"/v1/webhooks/{webhook['id']}")
    result = run("webhook", "test", webhook["id"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "This webhook does not exist" in result.stderr


def test_a_secret_whose_key_is_lost_is_rotated(client: Client, app: Flask) -> None:
    webhook = make_webhook(client, url="https://hooks.example.org/", events=["project.created"])
    with second_app(app, secret_key="another key of more than thirty-two characters") as other:
        done = runner(other)("webhook", "rotate-secret", webhook["id"], "--json")
        assert done.exit_code == 0, done.stderr
        with other.app_context():
            sealed = db.session.get_one(Webhook, webhook["id"]).sealed_secret
            assert unseal(sealed) == json.loads(done.stdout)["secret"]
    unknown = runner(app)("webhook", "rotate-secret", "wh_0")
    assert (unknown.exit_code, unknown.stderr[:22]) == (1, "Error: There is no web")
