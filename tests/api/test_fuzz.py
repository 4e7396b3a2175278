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

REQUESTS, MORE_REQUESTS = 4, 20  # of each operation
SEQUENCES = {False: 2, True: 5}  # True is for ``--slow``
SEED = random.SystemRandom().randrange(2**32)

each = pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.name)


@pytest.mark.one_database
@each
def test_made_up_requests(app: Flask, operation: Operation) -> None:
    _check_made_up(app, operation, REQUESTS)


@pytest.mark.slow
@each
def test_more_made_up_requests(app: Flask, operation: Operation) -> None:
    """On both databases: PostgreSQL refuses texts and numbers that SQLite takes."""
    _check_made_up(app, operation, MORE_REQUESTS)


def _check_made_up(app: Flask, operation: Operation, number: int) -> None:
    sys.stdout.write(f"python -m tests.fuzz --seed {SEED}\n")
    assert run(app, operation, number=number, start=SEED).total() >= number // 2


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
