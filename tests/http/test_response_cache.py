"""What is kept of responses, and for how long."""

from __future__ import annotations

import pytest

from app.http import response_cache
from app.http.response_cache import CachedResponse, ResponseCache

RESPONSE = CachedResponse((b"x" * 30, b"y" * 10), ())


def test_those_not_asked_for_longest_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_cache, "RESPONSE_CACHE_BYTES", 2 * RESPONSE.size)
    cache = ResponseCache()
    for tag in "aab":
        cache.add(tag, RESPONSE)
    assert cache.get("a") is RESPONSE
    cache.add("c", RESPONSE)
    assert [cache.get(tag) for tag in "abc"] == [RESPONSE, None, RESPONSE]
    cache.add("d", RESPONSE)
    assert [cache.get(tag) for tag in "acd"] == [None, RESPONSE, RESPONSE]


def test_small_ones_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_cache, "RESPONSE_CACHE_BYTES", 100_000)
    cache = ResponseCache()
    for number in range(1_000):
        cache.add(str(number), CachedResponse((b"",), ()))
    assert sum(cache.get(str(number)) is not None for number in range(1_000)) < 50


def test_a_large_one_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_cache, "CACHED_RESPONSE_BYTES", RESPONSE.size - 1)
    cache = ResponseCache()
    cache.add("a", RESPONSE)
    assert cache.get("a") is None
