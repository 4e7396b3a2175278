"""REDIS_URL with Sentinels: whatever replaces the primary, commands reach the new one soon."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from flask import Flask
from redis.connection import SSLConnection

from app.doctor.checks.valkey import check_valkey_server
from app.doctor.findings import Status
from app.jobs import valkey, valkey_client
from app.jobs.valkey import Script, Valkey, connect_valkey
from app.jobs.valkey_client import ASK_AGAIN, PrimaryPool, make_client
from app.settings.valkey import sentinel_address
from tests.jobs.sentinel import NAME, Group, Server, sentinel_group
from tests.make import Client, make_account, second_app
from tests.waiting import wait_for

INCREMENT = Script("return redis.call('INCR', KEYS[1])")


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    with sentinel_group(tmp_path) as group:
        yield group


def _killed(server: Server, _: Group) -> None:
    server.kill()


def _stopped(server: Server, _: Group) -> None:
    server.send(signal.SIGSTOP)


def _replaced(_: Server, group: Group) -> None:
    group.sentinels[0].control.sentinel_failover(NAME)


@pytest.mark.trial
@pytest.mark.parametrize(
    ("fault", "outages"),
    [
        (_killed, 1),
        pytest.param(_stopped, 1, marks=pytest.mark.slow),
        pytest.param(_replaced, 0, marks=pytest.mark.slow),
    ],
)
def test_limits_count_again_after_a_failover(
    app: Flask,
    group: Group,
    fault: Callable[[Server, Group], None],
    outages: int,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if fault is _stopped:  # whoever waits longer for it does not notice
        monkeypatch.setattr(valkey, "TIMEOUT_SECONDS", 2.0)
    with second_app(app, redis_url=group.url) as served:
        client = make_account(served)
        assert _remaining(client) is not None
        with caplog.at_level(logging.WARNING, logger="app.jobs.valkey"):
            former = group.primary
            fault(former, group)
            group.wait_for_failover(former, meanwhile=lambda: _remaining(client))
            wait_for(lambda: _counted_by(group.primary, client))
        messages = [record.message.split(maxsplit=3)[:3] for record in caplog.records]
        assert messages == [["Valkey", "is", "down:"], ["Valkey", "is", "back"]] * outages
        wait_for(lambda: _remaining(client) == (_remaining(client) or 0) + 1)


def _remaining(client: Client) -> int | None:
    answer = client.get("/v1/account")
    assert answer.status_code == 200
    found = answer.headers.get("X-RateLimit-Remaining")
    return None if found is None else int(found)


def _counted_by(server: Server, client: Client) -> bool:
    """Whether a request is counted by this server; the other one may be a primary still."""
    before = server.control.info("commandstats").get("cmdstat_evalsha", {"calls": 0})["calls"]
    counted = _remaining(client) is not None
    after = server.control.info("commandstats").get("cmdstat_evalsha", {"calls": 0})["calls"]
    return bool(counted and after > before)


@pytest.mark.slow
def test_without_sentinels_the_primary_is_used_on(
    group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They hang, and a command in ten seconds waits for them."""
    monkeypatch.setattr(valkey_client, "SENTINEL_TIMEOUT", 0.25)
    used = Valkey(lambda: group.url)
    first = wait_for(lambda: used.run(INCREMENT, ("canopy:test",)))
    outages = used.outages
    for sentinel in group.sentinels:
        sentinel.send(signal.SIGSTOP)
    now, asked, ask = time.monotonic(), [], PrimaryPool.get_master_address
    monkeypatch.setattr(
        PrimaryPool, "get_master_address", lambda self: asked.append(now) or ask(self)
    )
    monkeypatch.setattr(valkey_client, "time", SimpleNamespace(monotonic=lambda: now))
    for number in range(1, 10 * int(ASK_AGAIN)):
        now += 0.1
        assert used.run(INCREMENT, ("canopy:test",)) == first + number
    assert len(asked) == 1
    assert used.outages == outages


@pytest.mark.slow
def test_passwords_are_for_whom_they_are_meant_and_the_doctor_names_a_sentinel_that_is_gone(
    app: Flask, tmp_path: Path
) -> None:
    with sentinel_group(tmp_path, password="p@,1", sentinel_password="s/2") as group:
        settings = replace(app.config["SETTINGS"], redis_url=group.url)
        client = connect_valkey(group.url)
        assert client.incr("canopy:test") == 1
        assert group.primary.control.select(3)
        assert group.primary.control.get("canopy:test") == b"1"
        agreed, server = check_valkey_server(client, settings)
        primary = f"127.0.0.1:{group.primary_port}"
        assert agreed.found == f"the Sentinels name {primary} as the primary of forests"
        assert server.found.startswith("Valkey")
        group.sentinels[1].kill()
        gone, *_ = check_valkey_server(connect_valkey(group.url), settings)
        assert gone.status is Status.WARNING
        assert f"127.0.0.1:{group.sentinels[1].port}" in gone.found


def test_the_parts_of_the_address() -> None:
    url = "redis+sentinel://us%40er:p%2Fw@a,b:1,[::1]:26380/forests/3?sentinel_password=s%2F&protocol=3"
    found = sentinel_address(url)
    assert found is not None
    assert found.sentinels == (("a", 26379), ("b", 1), ("::1", 26380))
    assert (found.service, found.password, found.user) == ("forests", "s/", None)
    options = make_client(url).connection_pool.connection_kwargs
    assert options["username"] == "us@er"
    assert options["password"] == "p/w"
    assert (options["db"], options["protocol"]) == (3, 3)
    assert sentinel_address("redis://a:6379/0") is None


def test_tls_is_for_the_sentinels_and_the_primary() -> None:
    client = make_client("rediss+sentinel://a,b/forests?ssl_ca_certs=/ca.pem")
    pool = client.connection_pool
    assert issubclass(pool.connection_class, SSLConnection)
    assert pool.connection_kwargs["ssl_ca_certs"] == "/ca.pem"
    for sentinel in pool.sentinel_manager.sentinels:  # type: ignore[attr-defined]
        assert issubclass(sentinel.connection_pool.connection_class, SSLConnection)
        assert sentinel.connection_pool.connection_kwargs["ssl_ca_certs"] == "/ca.pem"
