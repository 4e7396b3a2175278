"""Lookups: shared, bounded, and never waited for longer than there is time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from app.outbound import EgressError
from app.outbound.resolving import Lookups
from app.policy.deliveries import FailureReason
from app.values.deadline import Deadline
from tests.waiting import PATIENCE, wait_for


class NameServer:
    """Answers once it is released; names that begin with "quick" at once."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.released = threading.Event()

    def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        if not host.startswith("quick"):
            assert self.released.wait(2 * PATIENCE)
        return [f"address of {host}"]


@pytest.fixture
def name_server() -> Iterator[NameServer]:
    made = NameServer()
    yield made
    made.released.set()


@pytest.fixture
def lookups(name_server: NameServer) -> Iterator[Lookups]:
    yield Lookups(name_server, max_threads=3)
    name_server.released.set()


def _reason(lookups: Lookups, host: str, seconds: float = 0.1) -> FailureReason:
    with pytest.raises(EgressError) as failed:
        lookups.resolve(host, Deadline(seconds))
    return failed.value.reason


def test_a_name_is_looked_up_once_at_a_time(
    lookups: Lookups, name_server: NameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined, join = [], Lookups._join

    def noted(*arguments: Any) -> Any:
        lookup = join(*arguments)
        joined.append(lookup)
        return lookup

    monkeypatch.setattr(Lookups, "_join", noted)
    with ThreadPoolExecutor(8) as threads:
        found = [threads.submit(lookups.resolve, "slow", Deadline(PATIENCE)) for _ in range(8)]
        wait_for(lambda: len(joined) == 8)
        name_server.released.set()
        assert [answer.result() for answer in found] == [["address of slow"]] * 8
    assert name_server.asked == ["slow"]


def test_a_name_is_looked_up_again_the_next_time(lookups: Lookups, name_server: NameServer) -> None:
    for _ in range(2):
        assert lookups.resolve("quick", Deadline(PATIENCE)) == ["address of quick"]
    assert name_server.asked == ["quick", "quick"]


def test_a_name_that_hangs_uses_one_thread(lookups: Lookups, name_server: NameServer) -> None:
    _hang(lookups, name_server, "slow")
    assert [_reason(lookups, "slow", 0.01) for _ in range(5)] == [FailureReason.SLOW_NAME] * 5
    assert lookups.resolve("quick", Deadline(PATIENCE)) == ["address of quick"]
    assert name_server.asked == ["slow", "quick"]


def test_when_all_threads_are_busy_others_time_out(
    lookups: Lookups, name_server: NameServer
) -> None:
    before = set(threading.enumerate())
    _hang(lookups, name_server, "slow 1", "slow 2", "slow 3")
    assert _reason(lookups, "quick", PATIENCE) is FailureReason.SLOW_NAME
    assert _threads(before) == 3
    name_server.released.set()
    wait_for(lambda: _threads(before) == 0)
    assert lookups.resolve("quick", Deadline(PATIENCE)) == ["address of quick"]


def test_an_error_of_the_system_is_an_unknown_name() -> None:
    lookups = Lookups(_fail)
    for _ in range(2):
        assert not lookups.resolve("host", Deadline(PATIENCE))


def _hang(lookups: Lookups, name_server: NameServer, *hosts: str) -> None:
    """Have somebody wait for each of these names, which the server was asked for."""
    for host in hosts:
        arguments = (host, Deadline(2 * PATIENCE))
        threading.Thread(target=lookups.resolve, args=arguments, daemon=True).start()
    wait_for(lambda: set(hosts) <= set(name_server.asked))


def _threads(before: set[threading.Thread]) -> int:
    """How many there are more for lookups than before."""
    return sum(thread.name == "lookup" for thread in set(threading.enumerate()) - before)


def _fail(host: str) -> list[str]:
    raise OSError("no such name")
