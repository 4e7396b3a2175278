"""Small charts of numbers over time as SVG, without scripts, with the same numbers as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

WIDTH: Final = 1_000.0  # the page stretches the drawing, and has the texts around it
HEIGHT: Final = 100.0
_GAP: Final = 0.25  # share of a column's width
_STEPS: Final = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0)  # from 2 on, their halves are whole


class Series(NamedTuple):
    """Numbers of one kind, one for each column, or None.

    ``look`` is a class of ``css/account.css``: ``main``, ``good``, ``bad`` or ``other``.
    """

    label: str
    look: str
    values: Sequence[float | None]


class Bar(NamedTuple):
    look: str
    x: float
    y: float
    width: float
    height: float


class ChartColumn(NamedTuple):
    name: str
    x: float
    width: float
    bars: list[Bar]
    title: str


class Chart(NamedTuple):
    """A chart for ``chart.html``.

    Attributes:
        lines: (look, points of the pieces) of each line.
        ticks: the labels of the axis, the largest first.
        rows: the table, (name, formatted numbers) of each column.
    """

    series: Sequence[Series]
    columns: list[ChartColumn]
    lines: list[tuple[str, list[str]]]
    ticks: list[str]
    rows: list[tuple[str, list[str]]]

    @property
    def is_empty(self) -> bool:
        """True if no column has a number other than 0."""
        return not any(value for series in self.series for value in series.values)


def stacked_bars(
    names: Sequence[str], series: Sequence[Series], words: Callable[[float], str]
) -> Chart:
    """Draw a column for each name, in which the numbers of all series are stacked.

    Args:
        words: formats a number, such as ``1,204``.
    """
    totals = [sum(part.values[place] or 0.0 for part in series) for place in range(len(names))]
    top = _round_up(max(totals, default=0.0))
    columns = _chart_columns(names, series, words)
    for place, column in enumerate(columns):
        base = 0.0
        for part in series:
            value = part.values[place] or 0.0
            if value:
                height = value / top * HEIGHT
                y = HEIGHT - base / top * HEIGHT - height
                gap = column.width * _GAP / 2
                x, width = column.x + gap, column.width - 2 * gap
                numbers = (round(number, 2) for number in (x, y, width, height))
                column.bars.append(Bar(part.look, *numbers))
            base += value
    return Chart(series, columns, [], _tick_labels(top, words), _table_rows(names, series, words))


def line_chart(
    names: Sequence[str], series: Sequence[Series], words: Callable[[float], str]
) -> Chart:
    """Draw a line for each series, broken where a number is missing."""
    numbers = [value for line in series for value in line.values if value is not None]
    top = _round_up(max(numbers, default=0.0))
    columns = _chart_columns(names, series, words)
    lines = [(line.look, _line_pieces(line.values, columns, top)) for line in series]
    return Chart(
        series, columns, lines, _tick_labels(top, words), _table_rows(names, series, words)
    )


def _chart_columns(
    names: Sequence[str], series: Sequence[Series], words: Callable[[float], str]
) -> list[ChartColumn]:
    width = round(WIDTH / max(len(names), 1), 2)
    titles = (
        f"{name}: {', '.join(_column_labels(series, place, words))}"
        for place, name in enumerate(names)
    )
    return [
        ChartColumn(name, round(place * width, 2), width, [], title)
        for (place, name), title in zip(enumerate(names), titles, strict=True)
    ]


def _column_labels(
    series: Sequence[Series], place: int, words: Callable[[float], str]
) -> list[str]:
    pairs = ((part.label, part.values[place]) for part in series)
    return [f"{label} {words(value)}" for label, value in pairs if value is not None] or ["none"]


def _line_pieces(
    values: Sequence[float | None], columns: Sequence[ChartColumn], top: float
) -> list[str]:
    """Return the points of a line, a piece for each run of numbers. A single number is a dash."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for value, column in zip(values, columns, strict=True):
        if value is None:
            pieces.append([])
        else:
            y = HEIGHT - value / top * HEIGHT
            pieces[-1].append((column.x + column.width / 2, y))
    return [_points_text(piece, columns[0].width / 4) for piece in pieces if piece]


def _points_text(piece: Sequence[tuple[float, float]], dash: float) -> str:
    if len(piece) == 1:
        ((x, y),) = piece
        piece = [(x - dash, y), (x + dash, y)]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in piece)


def _table_rows(
    names: Sequence[str], series: Sequence[Series], words: Callable[[float], str]
) -> list[tuple[str, list[str]]]:
    def cell(value: float | None) -> str:
        return "–" if value is None else words(value)

    return [
        (name, [cell(part.values[place]) for part in series]) for place, name in enumerate(names)
    ]


def _tick_labels(top: float, words: Callable[[float], str]) -> list[str]:
    return [words(top), words(top / 2), words(0)]


def _round_up(value: float) -> float:
    """Return the end of an axis: a round number, not smaller, at least 2, with a whole half."""
    if value <= 2:
        return 2.0
    power = 10.0 ** (len(str(int(value))) - 1)
    return next(step * power for step in _STEPS if step * power >= value)
