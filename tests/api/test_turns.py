"""The turn of expensive work goes round between accounts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from app.api.expensive import Turns
from app.policy.request_limits import EXPENSIVE_WAITING
from tests.waiting import PATIENCE, wait_for


class Requests:
    """Requests of accounts, each in a thread: who had the turn, and who was refused."""

    def __init__(self) -> None:
        self.turns = Turns()
        self.served: list[str] = []
        self.refused: list[str] = []
        self._threads: list[threading.Thread] = []

    def wait(self, account: str) -> None:
        """Let one more wait."""
        before = self.turns.waiting + len(self.refused)
        thread = threading.Thread(target=self._run, args=(account,))
        self._threads.append(thread)
        thread.start()
        wait_for(lambda: self.turns.waiting + len(self.refused) > before)

    def _run(self, account: str) -> None:
        if self.turns.take(account, PATIENCE):
            self.served.append(account)
            self.turns.end()
        else:
            self.refused.append(account)

    def join(self) -> None:
        for thread in self._threads:
            thread.join()


@contextmanager
def running(account: str) -> Iterator[Requests]:
    """An account has the turn in the block; then all that wait have theirs."""
    requests = Requests()
    assert requests.turns.take(account, 0)
    yield requests
    requests.turns.end()
    requests.join()
    assert not requests.turns.is_taken


def test_an_account_alone_has_all_places() -> None:
    with running("a") as requests:
        for _ in range(EXPENSIVE_WAITING):
            requests.wait("a")
        assert not requests.turns.take("a", PATIENCE)
    assert requests.served == ["a"] * EXPENSIVE_WAITING


def test_another_account_takes_the_place_of_who_has_most_and_comes_next() -> None:
    with running("a") as requests:
        for _ in range(EXPENSIVE_WAITING):
            requests.wait("a")
        requests.wait("b")
        wait_for(lambda: requests.refused == ["a"])
    assert requests.served == ["b", *["a"] * (EXPENSIVE_WAITING - 1)]


def test_nobody_gives_way_to_an_account_with_as_many() -> None:
    with running("a") as requests:
        for account in ("b", "c")[:EXPENSIVE_WAITING]:
            requests.wait(account)
        assert not requests.turns.take("d", PATIENCE)
        assert requests.refused == []
    assert sorted(requests.served) == ["b", "c"]


def test_without_places_one_of_another_account_waits() -> None:
    with running("a") as requests:
        requests.turns.places = 0
        assert not requests.turns.take("a", PATIENCE)
        requests.wait("b")
        assert not requests.turns.take("c", PATIENCE)
    assert requests.served == ["b"]


def test_who_has_waited_in_vain_leaves_its_place() -> None:
    with running("a") as requests:
        for seconds in (0, 0.01):
            assert not requests.turns.take("b", seconds)
        assert requests.turns.waiting == 0
