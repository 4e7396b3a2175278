"""A cache of responses in memory, by entity tag."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

from flask import Response

from app.http.etags import is_known
from app.policy.request_limits import KEPT_BYTES, KEPT_RESPONSE_BYTES

_OVERHEAD: Final = 2_048  # bytes of memory for a response besides its body, about


class KeptResponse(NamedTuple):
    """The body and headers of a response, before anything is added that belongs to one request."""

    body: tuple[bytes, ...]
    headers: tuple[tuple[str, str], ...]

    @property
    def size(self) -> int:
        """Bytes of memory."""
        return _OVERHEAD + sum(map(len, self.body))


class ResponseCache:
    """The most recently requested responses of this process, by entity tag, across all accounts."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, KeptResponse] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, tag: str) -> KeptResponse | None:
        with self._lock:
            if tag in self._kept:
                self._kept.move_to_end(tag)
            return self._kept.get(tag)

    def keep(self, tag: str, response: KeptResponse) -> None:
        """Keep a response unless it is large, in place of those that were not requested for
        longest."""
        if response.size > KEPT_RESPONSE_BYTES:
            return
        with self._lock:
            if tag in self._kept:  # another thread made it, too
                return
            self._kept[tag] = response
            self._size += response.size
            while self._size > KEPT_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._size -= oldest.size


_CACHE: Final = ResponseCache()


def kept_response(tag: str, media_type: str, make: Callable[[], Response]) -> Response:
    """The response with an entity tag that is known before the response is made: 304 if the client
    has it, the kept one, or a new one.

    Args:
        tag: a weak one, as data that is read later may be newer. It differs where anything differs
            that ``make`` depends on, including the account.
    """
    if is_known(tag):
        response = Response(status=304, content_type=media_type)
    elif (cached := _CACHE.get(tag)) is not None:
        response = Response(cached.body, headers=cached.headers)
    else:
        response = make()
        if response.is_sequence:  # not one that goes out from a file
            body = tuple(response.iter_encoded())
            _CACHE.keep(tag, KeptResponse(body, tuple(response.headers)))
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "private, no-cache"
    return response
