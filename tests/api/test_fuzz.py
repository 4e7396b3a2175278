"""A short run of ``tests.fuzz``: nothing is 5xx or outside of the description."""

from __future__ import annotations

import random
import sys

import pytest
from flask import Flask
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.api.operations import Operation, operations
from tests.fuzz.machine import Changes
from tests.fuzz.requests import run

REQUESTS = 20  # of each operation, on each database
SEQUENCES = 5
SEED = random.SystemRandom().randrange(2**32)


@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.name)
def test_made_up_requests(app: Flask, operation: Operation) -> None:
    sys.stdout.write(f"python -m tests.fuzz --seed {SEED}\n")
    answers = run(app, operation, number=REQUESTS, start=SEED)
    assert answers.total() >= REQUESTS // 2


def test_sequences_of_changes(app: Flask) -> None:
    sys.stdout.write(f"python -m tests.fuzz --seed {SEED}\n")
    machine = type("Changes", (Changes,), {"app": app})
    run_state_machine_as_test(
        seed(SEED)(machine),
        settings=settings(
            max_examples=SEQUENCES,
            deadline=None,
            database=None,
            stateful_step_count=25,
            suppress_health_check=list(HealthCheck),
        ),
    )
