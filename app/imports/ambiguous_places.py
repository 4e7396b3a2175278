"""Files whose places can be meant in several ways: by another pair of columns, or with another
meaning of a letter. The account's projects decide, and else a person is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from app.formats.crs_search import Position
from app.formats.features import Layer
from app.imports.features.mapping import LayerScan
from app.imports.features.reader_process import ReaderProcess
from app.imports.features.reader_program import OpenedFile, OpenOptions
from app.imports.questions import distance_rank, option_record, question_record
from app.policy.imports import OPTIONS

Json = dict[str, Any]

_FAR: Final = 2  # the rank of what is not near projects
# By letter: the code of the question, the question, and what each answer puts.
_LETTERS: Final[Mapping[str, tuple[str, str, Mapping[str, Json]]]] = {
    "O": (
        "letters",
        "“O” is east in German, and west in French, Italian, Portuguese and Spanish. Which is it?",
        {"East": {"letters": {"O": "east"}}, "West": {"letters": {"O": "west"}}},
    ),
    "S": (
        "zone",
        "“S” behind a UTM zone is its part from 32° to 40° north, or the south. Which is it?",
        {
            "From 32° to 40° north": {"zone_letter": "band"},
            "South of the equator": {"zone_letter": "hemisphere"},
        },
    ),
}


class Reading(NamedTuple):
    """A layer as it is read with options. ``columns``: those with its geometries."""

    options: OpenOptions
    layer: Layer
    scan: LayerScan
    columns: Mapping[str, str]

    @property
    def places(self) -> str:
        return " and ".join(f"“{name}”" for name in self.columns.values())

    def as_option(self, label: str, features: int, put: Json) -> Json:
        """The answer that the file is read in this way."""
        return option_record(label, features, bbox=self.scan.box, **put)


def settle_places(
    process: ReaderProcess,
    file: OpenedFile,
    layer: Layer,
    options: OpenOptions,
    scan: Callable[[Layer], LayerScan],
    near: Sequence[Position],
) -> tuple[Reading, list[Json], list[str]]:
    """Return the likeliest reading of a layer, as which the file then is open; the questions about
    others; and notes.

    Args:
        file: as it was opened with the options.
        near: positions of the account's projects.
    """

    def read(options: OpenOptions) -> Reading:
        opened = process.open(options)
        again = next(each for each in opened.layers if each.name == layer.name)
        return Reading(options, again, scan(again), next(iter(opened.choices), {}))

    def rank(reading: Reading) -> int:
        return distance_rank(reading.scan.box, near)

    first = Reading(options, layer, scan(layer), next(iter(file.choices), {}))
    reading, questions, notes = first, list[Json](), list[str]()
    others = [read(options._replace(geometry=each)) for each in file.choices[1:OPTIONS]]
    placed = [first, *_elsewhere(others, first)]
    if len(placed) > 1:
        reading = min(placed, key=rank)
        left = " and of ".join(one.places for one in placed if one is not reading)
        notes.append(f"The places are those of {reading.places}, not of {left}.")
        message = "The file has several places for each feature. Which are those to import?"
        offered = [
            one.as_option(one.places, one.scan.placed, {"mapping": dict(one.columns)})
            for one in placed
        ]
        questions.append(question_record("geometry", message, offered, required=False))
    for letter, (code, message, answers) in _LETTERS.items():
        if not (features := reading.scan.letters.get(letter)):
            continue
        meant = {label: read(reading.options._replace(**put)) for label, put in answers.items()}
        likely = [label for label, one in meant.items() if rank(one) < _FAR]
        if len(likely) == 1:
            reading = meant[likely[0]]
            notes.append(f"“{letter}” was read as “{likely[0].lower()}”, where your projects are.")
        else:
            offered = [
                meant[label].as_option(label, features, put) for label, put in answers.items()
            ]
            questions.append(question_record(code, message, offered))
    if others or questions or notes:
        process.open(reading.options)
    return reading, questions, notes


def _elsewhere(others: Iterable[Reading], first: Reading) -> list[Reading]:
    """The readings whose features are at other places than those of the first."""
    box = first.scan.box
    return [
        one
        for one in others
        if one.scan.box is not None
        and (box is None or any(abs(a - b) > 1e-5 for a, b in zip(one.scan.box, box, strict=True)))
    ]
