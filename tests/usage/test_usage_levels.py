"""Usage thresholds: which are reached, and which are newly reached."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.usage import thresholds
from app.usage.thresholds import crossed_thresholds


def test_areas_are_compared_as_integers() -> None:
    """75 % of this limit is not a whole number, and a float would be off by one."""
    limit = 3 * 10**17 + 1
    exact = -(-75 * limit // 100)
    assert crossed_thresholds(exact, limit, 0)[1] == 1
    assert crossed_thresholds(exact - 1, limit, 0)[1] == 0


@given(st.lists(st.integers(0, 2000), max_size=30))
def test_each_threshold_is_reported_whenever_it_is_reached_anew(walk: list[int]) -> None:
    """Compared with the definition: a threshold is reported if it holds now and did not before."""
    holds = [
        *(lambda now, p=p: 100 * now >= p * 1000 for p in (75, 90, 100)),
        lambda now: now > 1000,
    ]
    before, level = 0, 0
    for now in walk:
        reached, level = crossed_thresholds(now, 1000, level)
        new = [index for index, is_met in enumerate(holds) if is_met(now) and not is_met(before)]
        assert reached == tuple(thresholds.THRESHOLDS[index] for index in new)
        before = now
