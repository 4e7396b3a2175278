"""The charts of a webhook: how many attempts succeeded and failed, and how long responses took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from app.site.charts import Chart, Series, lines, stacked_bars
from app.values import clock
from app.webhooks.activity import AttemptTotal, count_by_day, count_by_hour

_COLUMN: Final = {1: timedelta(hours=1), 7: timedelta(hours=6), 30: timedelta(days=1)}
_MEDIAN, _MOST = 0.5, 0.95


class Charts(NamedTuple):
    """Both charts, and the numbers beside them."""

    attempts: Chart
    latency: Chart
    succeeded: int
    failed: int


class _Column(NamedTuple):
    begins: datetime
    failed: int
    took: Counter[int]  # of successes, by their rounded milliseconds


def charts_of(account_id: str, webhook_id: str, days: int) -> Charts:
    """The charts of this many days, one of ``_COLUMN``, up to now."""
    width = _COLUMN[days]
    end = _end_of_column(clock.now(), width)
    begin = end - timedelta(days=days)
    count = count_by_day if width == timedelta(days=1) else count_by_hour
    counts = count(account_id, webhook_id, begin - timedelta(hours=1))
    columns = list(_columns(counts, begin, width, timedelta(days=days) // width))
    names = [_name(column.begins, width) for column in columns]
    succeeded = [column.took.total() for column in columns]
    failed = [column.failed for column in columns]
    return Charts(
        stacked_bars(
            names,
            [Series("Succeeded", "good", succeeded), Series("Failed", "bad", failed)],
            lambda number: f"{number:,.0f}",
        ),
        lines(
            names,
            [
                Series("95 of 100 within", "other", [_share(each, _MOST) for each in columns]),
                Series("Half within", "main", [_share(each, _MEDIAN) for each in columns]),
            ],
            _milliseconds,
        ),
        sum(succeeded),
        sum(failed),
    )


def _columns(
    counts: Iterable[AttemptTotal], begin: datetime, width: timedelta, number: int
) -> Iterator[_Column]:
    failed: Counter[int] = Counter()
    took: list[Counter[int]] = [Counter() for _ in range(number)]
    for begins, status, took_ms, many in counts:
        place = (clock.parse_time(begins) - begin) // width
        if 0 <= place < number:
            if status == "failed":
                failed[place] += many
            else:
                took[place][took_ms] += many
    for place in range(number):
        yield _Column(begin + place * width, failed[place], took[place])


def _share(column: _Column, share: float) -> float | None:
    """Within how many milliseconds this share of the successes was answered; None without any."""
    left = share * column.took.total()
    for took_ms, number in sorted(column.took.items()):
        left -= number
        if left <= 0:
            return took_ms
    return None


def _end_of_column(moment: datetime, width: timedelta) -> datetime:
    """The end of the column that a moment is in; columns begin at midnight in UTC."""
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + ((moment - midnight) // width + 1) * width


def _name(moment: datetime, width: timedelta) -> str:
    day = f"{moment:%b} {moment.day}"
    return day if width >= timedelta(days=1) else f"{day}, {moment:%H:%M}"


def _milliseconds(value: float) -> str:
    return f"{value:,.0f} ms" if value < 1000 else f"{value / 1000:g} s"
