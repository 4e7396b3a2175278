"""What has failed is left alone, but for one attempt now and then."""

from __future__ import annotations

import time

import pytest

from app.values.circuit_breaker import CircuitBreaker


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, as the one item of a list."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_what_works_is_attempted(clock: list[float]) -> None:
    breaker = CircuitBreaker(5, longest=10)
    assert breaker.may_attempt()
    assert breaker.may_attempt()
    assert not breaker.has_failed


def test_after_a_failure_one_attempts_it_when_the_pause_is_over(clock: list[float]) -> None:
    breaker = CircuitBreaker(5, longest=10)
    breaker.on_failure()
    assert breaker.has_failed
    clock[0] += 4.9
    assert not breaker.may_attempt()
    clock[0] += 0.2
    assert [breaker.may_attempt() for _ in range(3)] == [True, False, False]
    breaker.on_failure()
    clock[0] += 5.1
    assert [breaker.may_attempt() for _ in range(3)] == [True, False, False]
    breaker.on_success()
    assert breaker.may_attempt()
    assert not breaker.has_failed


def test_an_attempt_without_an_end_does_not_last_for_ever(clock: list[float]) -> None:
    breaker = CircuitBreaker(5, longest=10)
    breaker.on_failure()
    clock[0] += 5.1
    assert breaker.may_attempt()
    clock[0] += 9.9
    assert not breaker.may_attempt()
    clock[0] += 0.2
    assert breaker.may_attempt()
