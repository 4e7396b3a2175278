"""Lookups: shared, bounded, and never waited for longer than there is time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from app.outbound import EgressError, resolving
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
        released = self.released
        self.asked.append(host)
        if not host.startswith("quick"):
            assert released.wait(2 * PATIENCE)
        return [f"address of {host}"]

    def release(self) -> None:
        """Answer those who wait now."""
        released, self.released = self.released, threading.Event()
        released.set()


@pytest.fixture
def server() -> Iterator[NameServer]:
    made = NameServer()
    yield made
    made.released.set()


@pytest.fixture
def lookups(server: NameServer) -> Iterator[Lookups]:
    made = Lookups(server, most=3, most_of_hung=1)
    yield made
    server.released.set()
    made.close()


def _reason(lookups: Lookups, host: str, seconds: float = 0.1) -> FailureReason:
    with pytest.raises(EgressError) as failed:
        lookups.resolve(host, Deadline(seconds))
    return failed.value.reason


def test_a_name_is_looked_up_once_at_a_time(
    lookups: Lookups, server: NameServer, monkeypatch: pytest.MonkeyPatch
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
        server.released.set()
        assert [answer.result() for answer in found] == [["address of slow"]] * 8
    assert server.asked == ["slow"]


def test_a_name_is_looked_up_again_the_next_time(lookups: Lookups, server: NameServer) -> None:
    for _ in range(2):
        assert lookups.resolve("quick", Deadline(PATIENCE)) == ["address of quick"]
    assert server.asked == ["quick", "quick"]


def test_a_name_that_hangs_uses_one_thread(lookups: Lookups, server: NameServer) -> None:
    _hang(lookups, server, "slow")
    assert [_reason(lookups, "slow", 0.01) for _ in range(5)] == [FailureReason.SLOW_NAME] * 5
    assert lookups.resolve("quick", Deadline(PATIENCE)) == ["address of quick"]
    assert server.asked == ["slow", "quick"]


def test_when_all_threads_are_busy_others_time_out(lookups: Lookups, server: NameServer) -> None:
    before = set(threading.enumerate())
    _hang(lookups, server, "slow 1", "slow 2", "slow 3")
    assert _reason(lookups, "quick") is FailureReason.SLOW_NAME
    assert _threads(before) == 3


def test_waiting_names_are_looked_up_when_a_thread_is_free(
    lookups: Lookups, server: NameServer
) -> None:
    _hang(lookups, server, "slow 1", "slow 2", "slow 3")
    _reason(lookups, "quick and late", 0.01)
    server.released.set()
    assert lookups.resolve("quick", Deadline(PATIENCE)) == ["address of quick"]
    assert "quick and late" not in server.asked  # nobody waited for it anymore


@pytest.fixture
def hung(lookups: Lookups, server: NameServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names that hung lately, and that hang again when they are asked for."""
    names = ["slow 1", "slow 2", "slow 3"]
    monkeypatch.setattr(resolving, "LOOKUP_HANGS", 0.0)
    _hang(lookups, server, *names)
    server.release()
    wait_for(lambda: not lookups._running)
    server.asked.clear()
    monkeypatch.setattr(resolving, "LOOKUP_HANGS", 600.0)
    return names


def test_names_that_hung_share_a_part_of_the_threads(
    lookups: Lookups, server: NameServer, hung: list[str]
) -> None:
    with ThreadPoolExecutor(3) as threads:
        found = [threads.submit(lookups.resolve, name, Deadline(PATIENCE)) for name in hung]
        for count in (1, 2, 3):
            wait_for(lambda count=count: len(_slow(server)) == count)
            assert lookups.resolve("quick", Deadline(PATIENCE)) == ["address of quick"]
            assert len(_slow(server)) == count
            server.release()
        assert [answer.result() for answer in found] == [[f"address of {name}"] for name in hung]


def test_a_name_that_resolves_in_time_no_longer_counts_as_hung(
    lookups: Lookups, server: NameServer, hung: list[str]
) -> None:
    with ThreadPoolExecutor(1) as threads:
        for name in hung:
            found = threads.submit(lookups.resolve, name, Deadline(PATIENCE))
            wait_for(lambda name=name: name in server.asked)
            server.release()
            assert found.result()
    server.asked.clear()
    _hang(lookups, server, *hung)
    assert sorted(server.asked) == hung


def test_a_name_that_hung_long_ago_no_longer_counts_as_hung(
    lookups: Lookups, server: NameServer, hung: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolving, "HUNG_FOR", 0.0)
    _hang(lookups, server, *hung)
    assert sorted(server.asked) == hung


def test_a_thread_of_a_name_that_begins_to_hang_counts_at_once(
    lookups: Lookups, server: NameServer, hung: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolving, "LOOKUP_HANGS", 0.0)
    _hang(lookups, server, "slow and new")
    assert _reason(lookups, "slow and new") is FailureReason.SLOW_NAME
    assert _reason(lookups, hung[0]) is FailureReason.SLOW_NAME
    assert server.asked == ["slow and new"]


def test_waiting_for_a_thread_does_not_count_as_hanging(
    lookups: Lookups, server: NameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolving, "LOOKUP_HANGS", 0.0)
    _hang(lookups, server, "slow 1", "slow 2", "slow 3")
    assert _reason(lookups, "quick") is FailureReason.SLOW_NAME
    assert _reason(lookups, "slow 1") is FailureReason.SLOW_NAME
    assert list(lookups._hung) == ["slow 1"]


def test_the_latest_deadline_of_all_callers_counts(lookups: Lookups, server: NameServer) -> None:
    _hang(lookups, server, "slow 1", "slow 2", "slow 3")
    _reason(lookups, "quick", 0.05)
    with ThreadPoolExecutor(1) as threads:
        found = threads.submit(lookups.resolve, "quick", Deadline(PATIENCE))
        time.sleep(0.05)
        server.released.set()
        assert found.result() == ["address of quick"]


def test_an_error_of_the_system_is_an_unknown_name() -> None:
    lookups = Lookups(_fail)
    for _ in range(2):
        assert not lookups.resolve("host", Deadline(PATIENCE))
    lookups.close()


def test_close_ends_the_threads(lookups: Lookups, server: NameServer) -> None:
    before = set(threading.enumerate())
    lookups.resolve("quick", Deadline(PATIENCE))
    assert _threads(before) == 1
    lookups.close()
    wait_for(lambda: _threads(before) == 0)


def _hang(lookups: Lookups, server: NameServer, *hosts: str) -> None:
    """Have somebody wait for each of these names, which the server was asked for."""
    for host in hosts:
        arguments = (host, Deadline(2 * PATIENCE))
        threading.Thread(target=lookups.resolve, args=arguments, daemon=True).start()
    wait_for(lambda: set(hosts) <= set(server.asked))


def _slow(server: NameServer) -> list[str]:
    return [host for host in server.asked if not host.startswith("quick")]


def _threads(before: set[threading.Thread]) -> int:
    """How many there are more for lookups than before."""
    return sum(thread.name == "lookup" for thread in set(threading.enumerate()) - before)


def _fail(host: str) -> list[str]:
    raise OSError("no such name")
