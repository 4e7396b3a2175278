"""The charts of a webhook: succeeded and failed attempts, and response times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from app.site import formats
from app.site.charts import Chart, Series, line_chart, stacked_bars
from app.values import clock
from app.webhooks.activity import AttemptTotal, count_by_day, count_by_hour

_COLUMN: Final = {1: timedelta(hours=1), 7: timedelta(hours=6), 30: timedelta(days=1)}
# Lines of response times: label, look, share of the successes.
_SHARES: Final = (("95 of 100 within", "other", 0.95), ("Half within", "main", 0.5))


class Charts(NamedTuple):
    """Both charts, and the total numbers of attempts."""

    attempts: Chart
    latency: Chart
    succeeded: int
    failed: int


class _Column(NamedTuple):
    begins: datetime
    failed: int
    successes: Counter[int]  # by rounded milliseconds


def charts_of(account_id: str, webhook_id: str, days: int) -> Charts:
    """Return the charts of the last ``days``, a key of ``_COLUMN``."""
    width = _COLUMN[days]
    end = _end_of_column(clock.now(), width)
    begin = end - timedelta(days=days)
    count = count_by_day if width == timedelta(days=1) else count_by_hour
    counts = count(account_id, webhook_id, begin - timedelta(hours=1))
    columns = list(_chart_columns(counts, begin, width, timedelta(days=days) // width))
    names = [_column_name(column.begins, width) for column in columns]
    succeeded = [column.successes.total() for column in columns]
    failed = [column.failed for column in columns]
    numbers = [Series("Succeeded", "good", succeeded), Series("Failed", "bad", failed)]
    times = [
        Series(label, look, [_milliseconds_of_share(column, share) for column in columns])
        for label, look, share in _SHARES
    ]
    return Charts(
        stacked_bars(names, numbers, formats.number),
        line_chart(names, times, _milliseconds_text),
        sum(succeeded),
        sum(failed),
    )


def _chart_columns(
    counts: Iterable[AttemptTotal], begin: datetime, width: timedelta, number: int
) -> Iterator[_Column]:
    failed: Counter[int] = Counter()
    successes: list[Counter[int]] = [Counter() for _ in range(number)]
    for begins, status, milliseconds, total in counts:
        place = (clock.parse_time(begins) - begin) // width
        if 0 <= place < number:
            if status == "failed":
                failed[place] += total
            else:
                successes[place][milliseconds] += total
    for place in range(number):
        yield _Column(begin + place * width, failed[place], successes[place])


def _milliseconds_of_share(column: _Column, share: float) -> float | None:
    """Return the milliseconds within which a share of the successes was answered; None without
    any."""
    left = share * column.successes.total()
    for milliseconds, number in sorted(column.successes.items()):
        left -= number
        if left <= 0:
            return milliseconds
    return None


def _end_of_column(moment: datetime, width: timedelta) -> datetime:
    """Return the end of the column with a moment; columns begin at midnight UTC."""
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + ((moment - midnight) // width + 1) * width


def _column_name(moment: datetime, width: timedelta) -> str:
    is_day = width >= timedelta(days=1)
    return formats.day_text(moment) if is_day else formats.reader().moment(moment)


def _milliseconds_text(value: float) -> str:
    if value < 1000:
        return f"{formats.number(value)} ms"
    return f"{formats.number(value / 1000, 3, trim=True)} s"
