"""The senders of requests, who take turns.

A sender is an account, if the head has a token that the application has accepted before, or else
the client's address. So nobody becomes several senders by more keys, made-up tokens, cookies or
headers.
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
_MAX_TOKENS: Final = 3  # to look up in a head
EXPENSIVE_SECONDS: Final = 10.0  # for which a sender of an expensive request may send more


def sender_of(head: bytes, peer: str, proxies: int) -> str:
    """Return the id of an account, or an address.

    Args:
        head: head of the request, with the end of its last line.
        peer: address of the connection.
        proxies: number of trusted proxies.
    """
    text = head
    if basic := _BASIC.search(head):
        with suppress(binascii.Error):
            text += b64decode(basic[1])
    for token in islice(ANY_TOKEN.finditer(text), _MAX_TOKENS):
        if account_id := account_of(hash_token(token[0].decode())):
            return account_id
    if not proxies:
        return peer
    return forwarded_address(b",".join(_FORWARDED.findall(head)).decode("latin-1"), proxies)


class SendersTurns:
    """The requests that wait for a thread, each as its connection; senders take turns.

    One sender has at most all threads but one. All senders of expensive requests together have at
    most half of the threads: what a request takes is known only once it has a thread, so more like
    it are expected from the same sender.

    Args:
        threads: number of threads of this process.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._at_work: set[Any] = set()
        self._waiting: dict[str, deque[Any]] = {}  # by sender, in the order of turns
        self._expensive: dict[str, float] = {}  # by sender, until when; in the order of these times

    def add(self, conn: Any) -> None:
        """Let a request wait."""
        self._waiting.setdefault(conn.sender, deque()).append(conn)

    def take(self) -> Any:
        """Return the request that gets a thread now, or None."""
        sender = self._next_sender()
        if sender is None:
            return None
        waiting = self._waiting.pop(sender)
        if len(waiting) > 1:
            self._waiting[sender] = waiting  # behind the others
        conn = waiting.popleft()
        self._at_work.add(conn)
        return conn

    def remove(self, conn: Any) -> None:
        """Note that a request no longer needs its thread."""
        self._at_work.remove(conn)
        if _is_expensive(conn):
            self._expensive.pop(conn.sender, None)
            self._expensive[conn.sender] = time.monotonic() + EXPENSIVE_SECONDS

    @property
    def has_next(self) -> bool:
        """True if ``take`` would return a request."""
        return self._next_sender() is not None

    def _next_sender(self) -> str | None:
        """Return the sender whose request gets a thread now."""
        if not self._waiting or len(self._at_work) >= self._threads:
            return None
        if not self._at_work:
            return next(iter(self._waiting))
        at_work = Counter(conn.sender for conn in self._at_work)
        expensive = self._expensive_senders()
        are_expensive = sum(at_work[sender] for sender in expensive)
        for sender in self._waiting:
            has_room = sender not in expensive or are_expensive < max(1, self._threads // 2)
            if has_room and at_work[sender] < max(1, self._threads - 1):
                return sender
        return None

    def _expensive_senders(self) -> set[str]:
        now = time.monotonic()
        while self._expensive and next(iter(self._expensive.values())) < now:
            self._expensive.pop(next(iter(self._expensive)))
        return {*self._expensive, *(conn.sender for conn in self._at_work if _is_expensive(conn))}


def _is_expensive(conn: Any) -> bool:
    return conn.response is not None and conn.response.is_expensive
