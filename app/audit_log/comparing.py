"""Comparing the entries of a batch with what its checkpoint says of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

_KEPT: Final = 2_000  # entries of a batch, which bounds the memory; a batch of the service has 500


class Found(NamedTuple):
    """An entry that stands in a file."""

    hash: str
    id: str | None  # None: its line is no entry
    line: int


class Difference(NamedTuple):
    """What differs: ``kind`` is changed, removed, inserted or moved.

    ``place`` is that in the batch, from 0, and None for an entry that it does not have.
    """

    kind: str
    place: int | None
    found: Found | None


def differences(expected: Sequence[str], found: Sequence[Found]) -> Iterator[Difference]:
    """How the entries that were found differ from those that were sealed.

    What is strange where something is missing was changed.

    Args:
        expected: the hash of each.
    """
    hashes = [each.hash for each in found]
    if hashes == list(expected):
        return
    surplus, lacking = Counter(hashes), Counter(expected)
    surplus, lacking = surplus - lacking, lacking - surplus
    known, strange = _split(hashes, surplus)
    sealed, missing = _split(expected, lacking)
    for place, position in zip(sealed, known, strict=True):
        if expected[place] != hashes[position]:
            yield Difference("moved", list(expected).index(hashes[position]), found[position])
    for rank in sorted(strange.keys() | missing.keys()):
        entries = [found[position] for position in strange.get(rank, ())]
        places = missing.get(rank, [])
        for place, entry in zip_longest(places, entries):
            kind = "changed" if entry and place is not None else "inserted" if entry else "removed"
            yield Difference(kind, place, entry)


def _split(hashes: Sequence[str], others: Counter[str]) -> tuple[list[int], dict[int, list[int]]]:
    """The places of the hashes without the others, and those of the others by how many of the
    former are before them."""
    common, rest = list[int](), defaultdict[int, list[int]](list)
    for place, text in enumerate(hashes):
        if others[text]:
            others[text] -= 1
            rest[len(common)].append(place)
        else:
            common.append(place)
    return common, rest


class Batch:
    """The entries of a checkpoint as they come, so many at most."""

    def __init__(self, expected: Sequence[str]) -> None:
        self.expected = expected
        self.found = list[Found]()

    def add(self, entry: Found) -> bool:
        """False: there are far too many."""
        if len(self.found) >= _KEPT + len(self.expected):
            return False
        self.found.append(entry)
        return True
