"""A Valkey that is down or hangs makes no request fail, and few wait."""

from __future__ import annotations

import gc
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from flask import Flask
from redis import Redis

from app.jobs import valkey as valkey_module
from app.jobs.valkey import Script, Valkey, connect_valkey
from config import SettingsError
from tests.make import make_account, second_app
from tests.waiting import wait_for

INCREMENT = Script("return redis.call('INCR', KEYS[1])")
DEAD = "redis://127.0.0.1:9/0"
PROBE_SECONDS = 0.1
ANSWERED_NEVER = 30.0  # seconds; who waits longer waits for ever


@pytest.fixture(autouse=True)
def _probed_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkey_module, "PROBE_INTERVAL", PROBE_SECONDS)


@pytest.fixture
def hanging() -> Iterator[str]:
    """The address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


def _connection_id(valkey: Valkey) -> int:
    """The server's id of this thread's connection."""
    found = valkey.attempt(lambda client: valkey._on_own_connection(client, ("CLIENT", "ID")))
    assert isinstance(found, int)
    return found


def _seconds(valkey: Valkey) -> float:
    began = time.monotonic()
    assert valkey.attempt(Redis.ping) is None
    return time.monotonic() - began


@pytest.mark.usefixtures("impatient")
def test_a_hanging_store_costs_a_quarter_of_a_second_and_then_nothing(hanging: str) -> None:
    valkey = Valkey(lambda: hanging)
    assert 0.25 <= _seconds(valkey) < ANSWERED_NEVER
    asked: list[Redis] = []
    assert valkey.attempt(asked.append) is None
    assert asked == []
    assert valkey.is_down


@pytest.mark.usefixtures("impatient")
def test_a_command_of_every_request_does_not_wait_longer(hanging: str) -> None:
    valkey = Valkey(lambda: hanging)
    began = time.monotonic()
    assert valkey.run(INCREMENT, ("canopy:test",)) is None
    assert time.monotonic() - began < ANSWERED_NEVER


@pytest.fixture
def url(app: Flask) -> str:
    """The address of a valkey that works."""
    found: str = app.config["SETTINGS"].redis_url
    return found


def _back(valkey: Valkey) -> bool:
    """Wait until an outage is over."""
    return bool(wait_for(lambda: not valkey.is_down))


def _probes() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "valkey-probe"}


@pytest.mark.slow
def test_an_outage_is_logged_when_it_begins_and_when_it_ends(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    addresses = iter([DEAD] * 3)
    valkey = Valkey(lambda: next(addresses, url))
    others = {thread.ident for thread in _probes()}  # of tests before; their outages end too

    def logged() -> list[str]:
        return [record.levelname for record in caplog.records if record.thread not in others]

    with caplog.at_level(logging.WARNING, logger="app.jobs.valkey"):
        for _ in range(3):
            assert valkey.attempt(Redis.ping) is None
        assert _back(valkey)
        assert valkey.attempt(Redis.ping) is True
        wait_for(lambda: len(logged()) > 1)  # the line comes a moment after the outage ends
    assert logged() == ["ERROR", "WARNING"]
    assert valkey.outages == 1


def test_no_request_looks_for_a_store_that_is_down() -> None:
    """Its address may be long in coming: the embedded one has to be started."""
    threads = []

    def address() -> str:
        threads.append(threading.current_thread().name)
        return DEAD

    valkey = Valkey(address)
    while len(threads) < 3:
        assert valkey.attempt(Redis.ping) is None
        time.sleep(0.02)
    assert threads == [threading.current_thread().name, "valkey-probe", "valkey-probe"]


def test_a_second_outage_is_seen_as_the_first_was(url: str) -> None:
    addresses = iter([DEAD])
    valkey = Valkey(lambda: next(addresses, url))
    for number in (1, 2):
        valkey._client = connect_valkey(DEAD)
        assert valkey.attempt(Redis.ping) is None
        assert valkey.outages == number
        assert _back(valkey)


def test_a_store_that_cannot_be_written_to_is_down_until_it_can(url: str) -> None:
    """It answers all the while."""
    valkey = Valkey(lambda: url)
    server = connect_valkey(url)
    server.config_set("maxmemory", "1")
    try:
        assert valkey.run(INCREMENT, ("canopy:test",)) is None
        time.sleep(2.5 * PROBE_SECONDS)
        assert server.ping()
        assert valkey.is_down
    finally:
        server.config_set("maxmemory", "0")
    assert _back(valkey)


def test_every_thread_has_a_new_connection_after_an_outage(url: str) -> None:
    valkey = Valkey(lambda: url)
    before = _connection_id(valkey)
    valkey._record_failure(ConnectionError("a test"))
    assert _back(valkey)
    assert _connection_id(valkey) != before


def test_a_connection_that_was_closed_for_being_idle_is_no_outage(url: str) -> None:
    valkey = Valkey(lambda: url)
    before = _connection_id(valkey)
    connect_valkey(url).client_kill_filter(_id=str(before))
    assert _connection_id(valkey) != before
    assert valkey.outages == 0


def test_where_no_thread_can_be_started_the_next_request_tries_again(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    addresses = iter([DEAD])
    valkey = Valkey(lambda: next(addresses, url))
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail)
        assert [valkey.attempt(Redis.ping) for _ in range(2)] == [None, None]
    assert valkey.is_down
    assert valkey.attempt(Redis.ping) is None
    assert _back(valkey)


def test_an_address_with_a_wrong_option_stops_the_start(app: Flask) -> None:
    for url in (
        "redis://127.0.0.1:9/0?socket_timeout=x",
        "redis+sentinel://127.0.0.1:9/forests?foo=bar",
    ):
        with (
            pytest.raises(SettingsError, match=r"^REDIS_URL cannot be used: "),
            second_app(app, redis_url=url),
        ):
            pass


@pytest.mark.usefixtures("impatient")
def test_no_address_makes_the_wait_longer(hanging: str) -> None:
    valkey = Valkey(lambda: f"{hanging}?socket_timeout=99&socket_connect_timeout=99")
    assert _seconds(valkey) < ANSWERED_NEVER


@pytest.mark.slow
def test_connections_of_threads_that_are_gone_do_not_add_up(url: str) -> None:
    valkey, server = Valkey(lambda: url), connect_valkey(url)
    before = server.info("clients")["connected_clients"]  # of other tests too
    for _ in range(150):
        thread = threading.Thread(target=lambda: valkey.run(INCREMENT, ("canopy:test",)))
        thread.start()
        thread.join()
    assert valkey.outages == 0
    gc.collect()
    wait_for(lambda: server.info("clients")["connected_clients"] - before < 50)


def test_a_script_that_the_store_has_forgotten_is_sent_again(url: str) -> None:
    valkey, script = Valkey(lambda: url), Script("return {KEYS[1], ARGV[1]}")
    for _ in range(2):
        assert valkey.run(script, ("a",), 5) == [b"a", b"5"]
        connect_valkey(url).script_flush()
    assert not valkey.is_down


@pytest.mark.usefixtures("impatient")
def test_requests_pass_while_the_store_hangs_and_one_waits_for_it(
    app: Flask, hanging: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, attempt = [], Valkey.attempt

    def counted(self: Valkey, command: Callable[[Redis], object]) -> object:
        return attempt(self, lambda client: asked.append(client) or command(client))

    monkeypatch.setattr(Valkey, "attempt", counted)
    with second_app(app, redis_url=hanging) as stuck:
        client = make_account(stuck)
        answers = [client.get("/v1/account").status_code for _ in range(5)]
    assert answers == [200] * 5
    assert len(asked) == 1
