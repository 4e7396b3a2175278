"""The interface of all readers: the layers of a file, and their features in WGS 84."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from app.formats.encodings import WESTERN
from app.geometry import Problem

AS_IN_FILE: Final = ""  # in place of a coordinate reference system: positions stay as they are


class Letters(NamedTuple):
    """What letters mean that can mean two things: ``o`` is "east" or "west", ``zone`` says whether
    S behind a UTM zone is the "band" from 32 to 40 degrees north, or the "hemisphere";
    ``are_used``: letters say which number is the latitude."""

    o: str | None = None
    zone: str | None = None
    are_used: bool = False


NO_LETTERS: Final = Letters()


class AsRead(NamedTuple):
    """The encoding of a file's texts, one of ``app.formats.encodings.NAMES``: ``encoding``, as a
    person has said, whatever the file says; ``guess``, where it does not say. ``letters``: what a
    person has said about letters with two meanings."""

    encoding: str | None = None
    guess: str = WESTERN
    letters: Letters = NO_LETTERS


AS_IT_SAYS: Final = AsRead()


class FileInvalid(ValueError):
    """The file as a whole, or one of its layers, cannot be used.

    The message is one or two sentences for the person who has the file: what is wrong with it and
    where, and what to do.
    """


@dataclass(frozen=True, slots=True)
class Layer:
    """A table of features in a file.

    ``crs`` names the coordinate reference system as people write it, such as "EPSG:25832", or as
    the file names it; None: the file does not say. ``accuracy`` is that of the transformation to
    WGS 84, in meters, if known; 0 if nothing is transformed. ``geometry`` is the kind of its first
    features: "areas", "lines" or "points"; None: unknown, or they have no geometries.
    ``geometry_columns`` are the columns of a table with the geometries; ``columns`` are the others.
    ``encoding`` is that of its texts, and ``is_guessed`` if it is, in formats without one of their
    own.
    """

    name: str
    features: int
    columns: tuple[str, ...]
    crs: str | None = "EPSG:4326"
    accuracy: float | None = 0
    geometry: str | None = None
    geometry_columns: tuple[str, ...] = ()
    encoding: str | None = None
    is_guessed: bool = False


@dataclass(frozen=True, slots=True)
class SourceFeature:
    """A feature of a file.

    ``number`` is its position in the layer, from 1. ``geometry`` is a parsed GeoJSON geometry of
    any type, with longitude and latitude in degrees, not validated; None: there is none.
    ``properties`` are JSON values by column name. ``problems`` say what could not be read; a
    feature with a problem cannot be imported. ``part`` is the number of a point of several, from 1.
    ``letter``: one in its place that can mean two things (``app.formats.readers.places``), of which
    nobody has chosen one; or "E" where letters say which number is the latitude.
    """

    number: int
    geometry: dict[str, Any] | None
    properties: dict[str, Any]
    problems: tuple[Problem, ...] = ()
    part: int | None = None
    letter: str = ""


class FormatReader(ABC):
    """An open file. ``layers`` are those that hold features, in the order of the file.

    ``notes`` are sentences about what was left out on purpose, such as heights; those of a layer
    are complete when all its features were read. ``format``, one of ``FORMATS_IN``, is set by
    ``app.formats.readers.opening``. ``is_swapped`` is True if a person has said that x and y change
    places. ``geometry_choices``: the columns of a table with the geometries, as ``choose_geometry``
    takes them, and others that can be meant. ``unknown`` are words whose encoding the file does not
    say.
    """

    format = ""
    is_swapped = False
    geometry_choices: tuple[dict[str, str], ...] = ()

    def __init__(self) -> None:
        self.layers: tuple[Layer, ...] = ()
        self.notes: list[str] = []
        self.unknown: list[bytes] = []

    def note(self, note: str | None) -> None:
        """Add a sentence to ``notes``, unless it is None or there already."""
        if note and note not in self.notes:
            self.notes.append(note)

    def choose_geometry(self, columns: Mapping[str, str]) -> None:
        """Read the geometries from the columns that a person has named: ``geometry``; ``latitude``
        and ``longitude``; or ``easting`` and ``northing``, perhaps with a ``zone``. This changes
        the layers.

        Raises:
            FileInvalid: the file has no such column, or its geometries are in none.
        """
        raise FileInvalid("Only the geometries of a CSV file are in columns that can be chosen.")

    @abstractmethod
    def read_features(self, layer: Layer, crs: str | None = None) -> Iterator[SourceFeature]:
        """Yield the features of a layer; few are in memory at a time. It can be read several times.

        Args:
            layer: one of ``layers``, perhaps with fewer columns: others may then be left out.
            crs: the coordinate reference system that a person has named, which overrides that of
                the file; None: that of the file, or degrees on WGS 84 if it does not say;
                AS_IN_FILE, for shapefiles and GeoPackages.

        Raises:
            FileInvalid: the file is broken, or exceeds a limit of ``app.policy.files``; or ``crs``
                is unknown.
        """

    def close(self) -> None:  # noqa: B027 - few readers keep anything open
        """Close the file."""
