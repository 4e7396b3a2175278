"""The turns of those who send requests. app.processes.web_server.senders."""

from __future__ import annotations

from base64 import b64encode
from types import SimpleNamespace

import pytest

from app.processes.web_server import senders
from app.processes.web_server.senders import SendersTurns, sender_of
from app.security import tokens
from app.security.callers import note_account
from app.security.tokens import hash_token


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


def test_a_sender_is_an_account_whatever_key_it_uses_or_else_an_address() -> None:
    keys = [f"{tokens.API_KEY}{number}".ljust(len(tokens.API_KEY) + 38, "0") for number in range(3)]
    for key in keys[:2]:
        note_account(hash_token(key), "acct_a")
    heads = {
        "Authorization: Bearer {}\r\nCookie: x=1": "acct_a",
        "X-Api-Key: {}": "acct_a",
        "Cookie: canopy_session={}": "acct_a",
        "Cookie: canopy_session=made-up": "192.0.2.1",
    }
    for lines, sender in heads.items():
        for key in keys[:2]:
            head = f"GET / HTTP/1.1\r\n{lines.format(key)}\r\n".encode()
            assert sender_of(head, "192.0.2.1", 0) == sender, lines
    basic = b"\r\nAuthorization: Basic " + b64encode(f"any:{keys[0]}".encode()) + b"\r\n"
    assert sender_of(basic, "192.0.2.1", 0) == "acct_a"
    unknown = f"\r\nX-Forwarded-For: 192.0.2.7\r\nX-Api-Key: {keys[2]}\r\n".encode()
    assert [sender_of(unknown, "192.0.2.1", proxies) for proxies in (0, 1)] == [
        "192.0.2.1",
        "192.0.2.7",
    ]


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
    monkeypatch.setattr(senders, "EXPENSIVE_SECONDS", -1.0)
    turns = after_expensive(4, "x")
    for name in "xxxx":
        turns.add(Connection(name))
    assert taken(turns) == "xxx"
