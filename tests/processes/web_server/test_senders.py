"""The turns of those who send requests. app.processes.web_server.senders."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from app.processes.web_server import senders
from app.processes.web_server.senders import SendersTurns


class Connection:
    """What the turns see of a connection."""

    def __init__(self, sender: str, *, is_expensive: bool = False) -> None:
        self.sender = sender
        self.response = SimpleNamespace(is_expensive=is_expensive)


def taken(turns: SendersTurns) -> str:
    """Who sent those that get a thread now."""
    found = ""
    while (conn := turns.take()) is not None:
        found += conn.sender
    return found


def after_expensive(threads: int, names: str) -> SendersTurns:
    """The turns after an expensive request of each of these."""
    turns = SendersTurns(threads)
    for name in names:
        turns.add(Connection(name, is_expensive=True))
        turns.remove(turns.take())
    return turns


@pytest.mark.parametrize(
    ("threads", "expensive", "waiting", "expected"),
    [
        (4, "", "aaaa", "aaa"),
        (4, "", "aaaab", "abaa"),
        (4, "", "aabbcc", "abca"),
        (2, "", "aab", "ab"),
        (1, "", "aab", "a"),
        (4, "x", "xxxxx", "xx"),
        (4, "xy", "xyxyab", "xyab"),
        (4, "xyz", "xyzab", "xyab"),
        (2, "xy", "xya", "xa"),
        (1, "x", "xa", "x"),
    ],
)
def test_one_sender_leaves_a_thread_to_others_and_expensive_ones_half(
    threads: int, expensive: str, waiting: str, expected: str
) -> None:
    turns = after_expensive(threads, expensive)
    for name in waiting:
        turns.add(Connection(name))
    assert taken(turns) == expected


def test_an_expensive_request_counts_while_it_runs() -> None:
    turns = SendersTurns(4)
    for _ in range(2):
        turns.add(Connection("x", is_expensive=True))
    assert taken(turns) == "xx"
    for name in "xab":
        turns.add(Connection(name))
    assert taken(turns) == "ab"


def test_it_is_forgotten_after_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(senders, "_EXPENSIVE_SECONDS", -1.0)
    turns = after_expensive(4, "x")
    for name in "xxxx":
        turns.add(Connection(name))
    assert taken(turns) == "xxx"
