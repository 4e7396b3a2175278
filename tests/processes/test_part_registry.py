"""Every part says in Valkey that it runs, and by which SECRET_KEY."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator

import pytest
from redis import Redis

from app.jobs.valkey import connect_valkey
from app.processes import part_registry
from app.processes.part_registry import Announcer, running_parts
from app.security.sealing import key_check
from tests.processes.instances import Instance
from tests.waiting import PATIENCE, wait_for

KEY = "a secret key of the instance, long enough"


@pytest.fixture
def url(valkey_url: str) -> str:
    return f"{valkey_url}?db=7"


@pytest.fixture
def valkey(url: str) -> Iterator[Redis]:
    with connect_valkey(url) as valkey:
        yield valkey
        valkey.flushdb()


@pytest.mark.slow
def test_the_parts_of_an_instance_are_known_while_they_run(
    serve: Callable[..., Instance], valkey: Redis, url: str
) -> None:
    instance = serve(REDIS_URL=url, SECRET_KEY=KEY, WEB_WORKERS="2")
    instance.wait_until_ready()
    parts = wait_for(lambda: len(found := running_parts(valkey)) == 3 and found)
    assert [part.name for part in parts] == ["web server", "web server", "worker"]
    assert {part.host for part in parts} == {socket.gethostname()}
    assert len({part.pid for part in parts}) == 3
    assert {part.key_check for part in parts} == {key_check(KEY)}
    instance.send(signal.SIGTERM)
    instance.process.wait(PATIENCE)
    assert running_parts(valkey) == []


@pytest.mark.slow
def test_one_that_was_killed_is_forgotten(
    valkey: Redis, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_registry, "EXPIRES_AFTER", 600)
    announcer = Announcer(lambda: connect_valkey(url), "web server", "abcde")
    announcer.start()
    (part,) = wait_for(lambda: running_parts(valkey))
    announcer._stopped.set()  # it ends without another word
    name = f"canopy:part:{part.host}:{part.pid}:web server"
    assert 0 < valkey.ttl(name) <= 600
    valkey.delete(name)
    assert running_parts(valkey) == []
    assert valkey.scard("canopy:parts") == 0
