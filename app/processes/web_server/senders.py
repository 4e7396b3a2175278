"""Who sent a request, as far as its head tells: senders take turns.

It is the account of a token in the head, once the application has accepted that token, or else the
address of the client: neither more keys nor made-up ones, cookies or headers are more senders.
"""

from __future__ import annotations

import binascii
import re
import time
from base64 import b64decode
from collections import Counter, deque
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from app.http.proxies import forwarded_address
from app.security.callers import account_of
from app.security.tokens import ANY_TOKEN, hash_token

_BASIC: Final = re.compile(rb"\r\nauthorization:[ \t]*basic[ \t]+([^\r]*)", re.IGNORECASE)
_FORWARDED: Final = re.compile(rb"\r\nx-forwarded-for:([^\r]*)", re.IGNORECASE)
_MOST_TOKENS: Final = 3  # of a head that are looked up
_EXPENSIVE_SECONDS: Final = 10.0  # after an expensive request, in which more of them are expected


def sender_of(head: bytes, peer: str, proxies: int) -> str:
    """The id of an account, or an address.

    Args:
        head: the request's, with the end of its last line.
        peer: the address of the connection.
        proxies: how many trusted ones are in front.
    """
    text = head
    if basic := _BASIC.search(head):
        with suppress(binascii.Error):
            text += b64decode(basic[1])
    for token in islice(ANY_TOKEN.finditer(text), _MOST_TOKENS):
        if account_id := account_of(hash_token(token[0].decode())):
            return account_id
    if not proxies:
        return peer
    return forwarded_address(b",".join(_FORWARDED.findall(head)).decode("latin-1"), proxies)


class SendersTurns:
    """The turns of senders where requests wait for a thread.

    One sender has all threads but one at most. Those whose requests were expensive have half of
    them at most, all of these senders together: what a request takes is known only once it has a
    thread, and more like it are expected from who sent it.

    Args:
        threads: of this process. A request is given as its connection.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._at_work: set[Any] = set()
        self._waiting: dict[str, deque[Any]] = {}  # by sender; whose turn is first comes first
        self._expensive: dict[str, float] = {}  # senders, until when; who is first ends first

    def add(self, conn: Any) -> None:
        """Let a request wait."""
        self._waiting.setdefault(conn.sender, deque()).append(conn)

    def take(self) -> Any:
        """Return the request that gets a thread now, or None."""
        sender = self._following()
        if sender is None:
            return None
        waiting = self._waiting.pop(sender)
        if len(waiting) > 1:
            self._waiting[sender] = waiting  # behind the others
        conn = waiting.popleft()
        self._at_work.add(conn)
        return conn

    def remove(self, conn: Any) -> None:
        """Note that a request needs its thread no more."""
        self._at_work.remove(conn)
        if _is_expensive(conn):
            self._expensive.pop(conn.sender, None)
            self._expensive[conn.sender] = time.monotonic() + _EXPENSIVE_SECONDS

    @property
    def has_next(self) -> bool:
        """Whether ``take`` would return a request."""
        return self._following() is not None

    def _following(self) -> str | None:
        """Whose request gets a thread now."""
        if not self._waiting or len(self._at_work) >= self._threads:
            return None
        if not self._at_work:
            return next(iter(self._waiting))
        at_work = Counter(conn.sender for conn in self._at_work)
        expensive = self._expensive_senders()
        are_expensive = sum(at_work[sender] for sender in expensive)
        for sender in self._waiting:
            has_place = sender not in expensive or are_expensive < max(1, self._threads // 2)
            if has_place and at_work[sender] < max(1, self._threads - 1):
                return sender
        return None

    def _expensive_senders(self) -> set[str]:
        now = time.monotonic()
        while self._expensive and next(iter(self._expensive.values())) < now:
            self._expensive.pop(next(iter(self._expensive)))
        return {*self._expensive, *(conn.sender for conn in self._at_work if _is_expensive(conn))}


def _is_expensive(conn: Any) -> bool:
    return conn.response is not None and conn.response.is_expensive
