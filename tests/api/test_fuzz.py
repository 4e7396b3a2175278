"""A short run of ``tests.fuzz``: nothing is 5xx or outside of the description."""

from __future__ import annotations

import pytest
from flask import Flask
from hypothesis import HealthCheck, settings
from hypothesis import seed as seeded
from hypothesis.stateful import run_state_machine_as_test

from tests.api.operations import Operation, operations
from tests.fuzz.machine import Changes
from tests.fuzz.requests import run

REQUESTS = 2  # of each operation


@pytest.mark.slow
@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.name)
def test_made_up_requests(app: Flask, operation: Operation, seed: int) -> None:
    assert run(app, operation, number=REQUESTS, start=seed).total() >= REQUESTS // 2


@pytest.mark.slow
@pytest.mark.both
def test_sequences_of_changes(app: Flask, seed: int) -> None:
    machine = type("Changes", (Changes,), {"app": app})
    run_state_machine_as_test(
        seeded(seed)(machine),
        settings=settings(
            max_examples=2,
            deadline=None,
            database=None,
            stateful_step_count=25,
            suppress_health_check=list(HealthCheck),
        ),
    )
