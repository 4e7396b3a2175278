"""What is kept of responses, and for how long."""

from __future__ import annotations

import pytest

from app.http import kept_responses
from app.http.kept_responses import KeptResponse, ResponseCache

RESPONSE = KeptResponse((b"x" * 30, b"y" * 10), ())


def test_those_not_asked_for_longest_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_responses, "KEPT_BYTES", 2 * RESPONSE.size)
    cache = ResponseCache()
    for tag in "aab":
        cache.keep(tag, RESPONSE)
    assert cache.get("a") is RESPONSE
    cache.keep("c", RESPONSE)
    assert [cache.get(tag) for tag in "abc"] == [RESPONSE, None, RESPONSE]
    cache.keep("d", RESPONSE)
    assert [cache.get(tag) for tag in "acd"] == [None, RESPONSE, RESPONSE]


def test_small_ones_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_responses, "KEPT_BYTES", 100_000)
    cache = ResponseCache()
    for number in range(1_000):
        cache.keep(str(number), KeptResponse((b"",), ()))
    assert sum(cache.get(str(number)) is not None for number in range(1_000)) < 50


def test_a_large_one_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_responses, "KEPT_RESPONSE_BYTES", RESPONSE.size - 1)
    cache = ResponseCache()
    cache.keep("a", RESPONSE)
    assert cache.get("a") is None
