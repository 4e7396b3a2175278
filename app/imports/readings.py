"""Reading a file whose places can be meant in several ways: by another pair of columns, or with
another meaning of a letter. The account's projects decide, and else a person is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from app.formats.crs_search import Position
from app.formats.features import Layer
from app.imports.features.mapping import LayerScan
from app.imports.features.reader_process import OpenedFile, ReaderProcess
from app.imports.features.reader_program import OpenOptions
from app.imports.questions import distance_rank, option_record, question_record
from app.policy.imports import OPTIONS

Json = dict[str, Any]

_LETTERS: Final[Mapping[str, tuple[str, str, tuple[tuple[str, Json], ...]]]] = {
    "O": (
        "letters",
        "“O” is east in German, and west in French, Italian, Portuguese and Spanish. Which is it?",
        (("East", {"letters": {"O": "east"}}), ("West", {"letters": {"O": "west"}})),
    ),
    "S": (
        "zone",
        "“S” behind a UTM zone is its part from 32° to 40° north, or the south. Which is it?",
        (
            ("From 32° to 40° north", {"zone_letter": "band"}),
            ("South of the equator", {"zone_letter": "hemisphere"}),
        ),
    ),
}


class Reading(NamedTuple):
    """A layer as it is read with options. ``columns``: those with its geometries."""

    options: OpenOptions
    layer: Layer
    scan: LayerScan
    columns: Mapping[str, str]


def settle_reading(
    process: ReaderProcess,
    file: OpenedFile,
    first: Reading,
    scan: Callable[[Layer], LayerScan],
    near: Sequence[Position],
) -> tuple[Reading, list[Json], list[str]]:
    """Return the likeliest reading of an opened file, which then is open in this way; the questions
    about others; and notes.

    Args:
        first: how it was read.
        near: positions of the account's projects.
    """
    latest = first.options

    def read(**options: Any) -> Reading:
        nonlocal latest
        latest = first.options._replace(**options)
        opened = process.open(latest)
        layer = next(layer for layer in opened.layers if layer.name == first.layer.name)
        return Reading(latest, layer, scan(layer), next(iter(opened.choices), {}))

    reading, questions, notes = first, list[Json](), list[str]()
    others = [read(geometry=columns) for columns in file.choices[1:OPTIONS]]
    placed = [first, *(one for one in others if _is_elsewhere(one, first))]
    if len(placed) > 1:
        reading = min(placed, key=lambda one: distance_rank(one.scan.box, near))
        options = [(_listed(one.columns), {"mapping": dict(one.columns)}) for one in placed]
        left = " and of ".join(_listed(one.columns) for one in placed if one is not reading)
        notes.append(f"The places are those of {_listed(reading.columns)}, not of {left}.")
        message = "The file has several places for each feature. Which are those to import?"
        questions.append(_question("geometry", message, zip(options, placed, strict=True)))
    geometry = reading.options.geometry
    for letter, (code, message, answers) in _LETTERS.items():
        if not (number := reading.scan.letters.get(letter)):
            continue
        meant = [read(geometry=geometry, **put) for _, put in answers]
        ranks = [distance_rank(one.scan.box, near) for one in meant]
        if (ranks[0] < _FAR) != (ranks[1] < _FAR):
            label, reading = min(
                zip((label for label, _ in answers), meant, strict=True),
                key=lambda each: distance_rank(each[1].scan.box, near),
            )
            notes.append(f"“{letter}” was read as “{label.lower()}”, where your projects are.")
        else:
            asked = zip(answers, meant, strict=True)
            questions.append(_question(code, message, asked, features=number))
    if latest != reading.options:
        process.open(reading.options)
    return reading, questions, notes


_FAR: Final = 2  # the rank of what is not near


def _is_elsewhere(other: Reading, first: Reading) -> bool:
    return other.scan.box is not None and (
        first.scan.box is None
        or any(abs(a - b) > 1e-5 for a, b in zip(other.scan.box, first.scan.box, strict=True))
    )


def _listed(columns: Mapping[str, str]) -> str:
    return " and ".join(f"“{name}”" for name in columns.values())


def _question(
    code: str,
    message: str,
    answers: Iterator[tuple[tuple[str, Json], Reading]],
    features: int | None = None,
) -> Json:
    options = [
        option_record(
            label,
            one.scan.points + one.scan.areas + one.scan.lines if features is None else features,
            bbox=one.scan.box,
            **put,
        )
        for (label, put), one in answers
    ]
    return question_record(code, message, options, required=code != "geometry")
