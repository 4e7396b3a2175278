"""Checking the plots of many records in batches, in another process but for the first few, within a
limit of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from app.eudr.plots import (
    Changes,
    EudrOptions,
    Finding,
    Plot,
    RecordPlots,
    finding_about,
    make_plots,
)
from app.formats.writers.features import Feature
from app.geometry import timed
from app.geometry.complexity import SMALL
from app.geometry.countries import load_world
from app.http.errors import BadRequest, Detail
from app.policy.eudr import BATCH_SECONDS, PLOT_SECONDS
from app.values import processor_clock
from app.values.batching import batched_by_bytes
from app.values.strict_json import dumps

_Record: TypeAlias = tuple[Feature, bytes]  # with the JSON of its geometry and properties

BATCH_RECORDS: Final = 1_000
_BATCH_POSITIONS: Final = 10 * SMALL  # as each may take long, if it is made for that
_TOO_LONG: Final = (
    "Checking the plot takes too long. Simplify its boundary, draw the plot as several, or add "
    "holes=ignore to fill its holes."
)


class PlotClock:
    """The processor time in which plots are checked: ``seconds`` and PLOT_SECONDS. As it is
    bounded, the clock of the request does not count. Without a request there is no limit."""

    def __init__(self, seconds: float) -> None:
        self._end = timed.processor_seconds() + seconds

    def add(self, records: int, positions: int) -> None:
        """Add the time for some records."""
        per_record, per_position = PLOT_SECONDS
        self._end += records * per_record + positions * per_position

    @property
    def is_over(self) -> bool:
        """True once all of the time is used up."""
        processor_clock.restart()
        return processor_clock.current() is not None and timed.processor_seconds() > self._end

    def check(self) -> None:
        """Raise BadRequest if the time is over."""
        if self.is_over:
            message = (
                "The plots are so complex that checking them takes too long. Filter them, and take "
                "one part after the other."
            )
            raise BadRequest(message, details=[Detail("", message, "too_complex")])


def read_plots(
    features: Iterable[Feature], options: EudrOptions, clock: PlotClock
) -> Iterator[RecordPlots]:
    """Yield the plots of each record. Raises BadRequest if checking all of them takes too long."""
    records = ((each, dumps([each.geometry, each.properties])) for each in features)
    batches = batched_by_bytes(records, _positions, _BATCH_POSITIONS, BATCH_RECORDS)
    for number, batch in enumerate(batches):
        positions = sum(map(_positions, batch))
        clock.add(len(batch), positions)
        is_quick = not number and len(batch) < BATCH_RECORDS and positions <= SMALL
        for record in _checked(batch, options, is_quick=is_quick):
            yield record
            clock.check()


def _positions(record: _Record) -> int:
    """About how many positions a geometry has: it is not parsed here."""
    return record[1].count(b"[")


def _checked(
    batch: list[_Record], options: EudrOptions, *, is_quick: bool = False
) -> Iterator[RecordPlots]:
    """Yield the plots of records, checked in this process if that is quick."""
    records = b"[" + b",".join(text for _, text in batch) + b"]"
    if is_quick:
        answers = make_plots(records, options)
    else:
        answer = timed.call_timed(
            make_plots, [], records, tuple(options), seconds=BATCH_SECONDS, before=load_world
        )
        if answer is None and len(batch) > 1:
            for record in batch:
                yield from _checked([record], options)
            return
        problem = finding_about(batch[0][0], "too_complex", _TOO_LONG)
        (answers,) = answer or [[([], [problem], [], ())]]
    for (feature, _), (plots, problems, warnings, changes) in zip(batch, answers, strict=True):
        yield RecordPlots(
            feature,
            [Plot(*values) for values in plots],
            [Finding(*values) for values in problems],
            [Finding(*values) for values in warnings],
            Changes(*changes),
        )
