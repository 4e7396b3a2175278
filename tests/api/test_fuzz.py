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

# Of each operation, and of all, on each database; the second number is that of ``--slow``.
REQUESTS = {False: 8, True: 20}
SEQUENCES = {False: 2, True: 5}
SEED = random.SystemRandom().randrange(2**32)


@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.name)
def test_made_up_requests(app: Flask, operation: Operation, long_run: bool) -> None:
    sys.stdout.write(f"python -m tests.fuzz --seed {SEED}\n")
    number = REQUESTS[long_run]
    answers = run(app, operation, number=number, start=SEED)
    assert answers.total() >= number // 2


def test_sequences_of_changes(app: Flask, long_run: bool) -> None:
    sys.stdout.write(f"python -m tests.fuzz --seed {SEED}\n")
    machine = type("Changes", (Changes,), {"app": app})
    run_state_machine_as_test(
        seed(SEED)(machine),
        settings=settings(
            max_examples=SEQUENCES[long_run],
            deadline=None,
            database=None,
            stateful_step_count=25,
            suppress_health_check=list(HealthCheck),
        ),
    )
