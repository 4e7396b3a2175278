"""The limits of a layer, which readers check while they read it, and names for columns."""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import chain, count

from app.formats.features import FileInvalid
from app.policy.files import COLUMN_NAME_LENGTH, COLUMNS, POSITIONS, VALUE_BYTES


class Columns:
    """The names of a layer's columns, each once, in the order in which they occur. ``features`` is
    the number of its features, where they are counted."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self.features = 0

    def add_feature(self, names: Iterable[str]) -> None:
        """Count a feature, and add the names of its columns. Raises as ``add``."""
        self.features += 1
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        """Add a name, unless it is there.

        Raises:
            FileInvalid: it is too long, or one too many.
        """
        if name in self._names:
            return
        if len(name) > COLUMN_NAME_LENGTH:
            raise FileInvalid(
                f"The name of a column has {len(name):,} characters, and may have "
                f"{COLUMN_NAME_LENGTH:,}. Rename the column that begins with {quoted(name)}."
            )
        if len(self._names) >= COLUMNS:
            raise too_many_columns()
        self._names[name] = None

    def names(self) -> tuple[str, ...]:
        return tuple(self._names)


def too_many_columns() -> FileInvalid:
    return FileInvalid(f"A layer has more than {COLUMNS} columns. Leave some of them out.")


class PositionCount:
    """Counts the positions of the features of a layer."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, positions: int) -> None:
        """Count positions. Raises FileInvalid if there are too many."""
        self._count += positions
        if self._count > POSITIONS:
            raise FileInvalid(
                f"The features of a layer have more than {POSITIONS:,} positions. Simplify them, "
                "or split the file."
            )


def value_too_long(name: str, number: int, kind: str = "feature") -> FileInvalid:
    """The error for a value of a column that is too long, in the feature with a number."""
    return FileInvalid(
        f"The value of {quoted(name)} in {kind} {number:,} is longer than "
        f"{VALUE_BYTES // 2**20} MiB. Shorten it."
    )


def memory_of(text: str) -> int:
    """The most bytes that a text takes in memory."""
    return len(text) if text.isascii() else 4 * len(text)


def unique_name(name: str, others: Container[str]) -> str:
    """The name, with a number after it if it is among ``others``: "A (2)"."""
    numbered = (f"{name} ({number})" for number in count(2))
    return next(candidate for candidate in chain([name], numbered) if candidate not in others)


def quoted(name: str) -> str:
    """A name from a file for a message: quoted, printable, and short."""
    text = "".join(character if character.isprintable() else "?" for character in name[:81])
    return f'"{text[:80]}…"' if len(text) > 80 else f'"{text}"'
