"""A cache of responses in memory, by entity tag."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

from flask import Response

from app.http.etags import is_known
from app.policy.request_limits import CACHED_RESPONSE_BYTES, RESPONSE_CACHE_BYTES

_OVERHEAD: Final = 2_048  # bytes of memory for a response without its body, about


class CachedResponse(NamedTuple):
    """The body and headers of a response, without headers for one request."""

    body: tuple[bytes, ...]
    headers: tuple[tuple[str, str], ...]

    @property
    def size(self) -> int:
        """Bytes of memory."""
        return _OVERHEAD + sum(map(len, self.body))


class ResponseCache:
    """The most recently requested responses of this process, by entity tag, across all accounts."""

    def __init__(self) -> None:
        self._responses: OrderedDict[str, CachedResponse] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, tag: str) -> CachedResponse | None:
        with self._lock:
            if tag in self._responses:
                self._responses.move_to_end(tag)
            return self._responses.get(tag)

    def add(self, tag: str, response: CachedResponse) -> None:
        """Add a response unless it is large, in place of those unused for longest."""
        if response.size > CACHED_RESPONSE_BYTES:
            return
        with self._lock:
            if tag in self._responses:  # another thread was faster
                return
            self._responses[tag] = response
            self._size += response.size
            while self._size > RESPONSE_CACHE_BYTES:
                _, oldest = self._responses.popitem(last=False)
                self._size -= oldest.size


_CACHE: Final = ResponseCache()


def cached_response(tag: str, media_type: str, make: Callable[[], Response]) -> Response:
    """The response with an entity tag: 304 if the client has it, a cached one, or a new one.

    Args:
        tag: a weak tag, as data that is read later may be newer. It depends on everything that
            ``make`` depends on, including the account.
    """
    if is_known(tag):
        response = Response(status=304, content_type=media_type)
    elif (cached := _CACHE.get(tag)) is not None:
        response = Response(cached.body, headers=cached.headers)
    else:
        response = make()
        if response.is_sequence:  # not one that goes out from a file
            body = tuple(response.iter_encoded())
            _CACHE.add(tag, CachedResponse(body, tuple(response.headers)))
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "private, no-cache"
    return response
