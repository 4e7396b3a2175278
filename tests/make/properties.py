"""How property tests run: a handful of examples, each on real databases."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

_RELAXED = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large)


def examples(number: int) -> settings:
    """Settings for a property test with this many examples."""
    return settings(
        max_examples=number,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=_RELAXED,
    )
