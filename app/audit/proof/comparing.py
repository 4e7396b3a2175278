"""Comparing the entries of a batch with what its checkpoint says of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

_KEPT: Final = 2_000  # entries of a batch, which bounds the memory; a batch of the service has 500


class Found(NamedTuple):
    """An entry in a file."""

    hash: str
    id: str | None  # None: its line is not an entry
    line: int


class Difference(NamedTuple):
    """What differs.

    Attributes:
        kind: changed, removed, inserted or moved.
        place: in the batch, from 0; None for an entry that does not belong to it.
        found: None for an entry that was removed.
    """

    kind: str
    place: int | None
    found: Found | None


def differences(expected: Sequence[str], found: Sequence[Found]) -> Iterator[Difference]:
    """How the entries that were found differ from those that were sealed.

    An unknown entry where one is missing counts as changed.

    Args:
        expected: the hashes of the sealed entries.
    """
    hashes = [each.hash for each in found]
    if hashes == list(expected):
        return
    surplus, lacking = Counter(hashes), Counter(expected)
    surplus, lacking = surplus - lacking, lacking - surplus
    known, strange = _split(hashes, surplus)
    places_of = {text: place for place, text in enumerate(expected)}
    sealed, missing = _split(expected, lacking)
    for place, position in zip(sealed, known, strict=True):
        if expected[place] != hashes[position]:
            yield Difference("moved", places_of[hashes[position]], found[position])
    for rank in sorted(strange.keys() | missing.keys()):
        entries = [found[position] for position in strange.get(rank, ())]
        places = missing.get(rank, [])
        for place, entry in zip_longest(places, entries):
            kind = "changed" if entry and place is not None else "inserted" if entry else "removed"
            yield Difference(kind, place, entry)


def _split(hashes: Sequence[str], others: Counter[str]) -> tuple[list[int], dict[int, list[int]]]:
    """The places of the hashes that are not among ``others``, and the places of those that are, by
    how many of the former stand before them."""
    common, rest = list[int](), defaultdict[int, list[int]](list)
    for place, text in enumerate(hashes):
        if others[text]:
            others[text] -= 1
            rest[len(common)].append(place)
        else:
            common.append(place)
    return common, rest


class Batch:
    """Collects the entries of a checkpoint, up to a limit."""

    def __init__(self, expected: Sequence[str]) -> None:
        self.expected = expected
        self.sealed = frozenset(expected)
        self.found = list[Found]()

    def add(self, entry: Found) -> bool:
        """Add an entry. False if there are far too many."""
        if len(self.found) >= _KEPT + len(self.expected):
            return False
        self.found.append(entry)
        return True
