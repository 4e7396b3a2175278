"""KML 2.2 (OGC 07-147r2) and KMZ, with Google's tracks; what other files hold is not read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import BinaryIO, ClassVar, Final

from app.formats.features import FileInvalid, Layer, Reader, SourceFeature
from app.formats.readers.archive import Archive
from app.formats.readers.bounds import Columns, PositionCount, shown
from app.formats.readers.kml_data import WITH_GEOMETRIES, WITHOUT_GEOMETRIES, PlacemarkData
from app.formats.readers.kml_geometry import PlacemarkShape
from app.formats.readers.xml_elements import Element, read_elements
from app.policy.files import LAYERS

_ALL: Final = "All folders"
_FOLDER: Final = "folder"  # the column of that layer that has the names of the folders
_UNNAMED: Final = "Placemarks"
_NAME_LENGTH: Final = 100

_HEIGHTS: Final = "Heights were left out."
_LINKS: Final = (
    "The file refers to other files (NetworkLink), which were not read. To import what they hold, "
    "save it in Google Earth as a file of its own."
)
_MANY: Final = f"The file has more than {LAYERS - 1} folders with placemarks, shown as one layer."


@dataclass(slots=True)
class _Folder:
    """A Folder or Document that has placemarks of its own; None: all of them together."""

    element: Element | None = None
    features: int = 0
    columns: Columns = field(default_factory=Columns)

    def add(self, columns: Iterator[str]) -> None:
        self.features += 1
        for column in columns:
            self.columns.add(column)


class KmlReader(Reader):
    """A layer for each Folder or Document that has placemarks of its own, and one for all of them
    when they are several."""

    format: ClassVar[str] = "kml"

    def __init__(self, path: Path) -> None:
        """Raises FileInvalid when the file is broken or has no placemarks."""
        super().__init__()
        self._path = path
        self._data = PlacemarkData()
        self._folders: dict[str, int | None] = {}  # their numbers by the name of the layer
        self._set_layers(*self._scan())

    def _open(self) -> BinaryIO:
        return self._path.open("rb")

    def _scan(self) -> tuple[list[_Folder], _Folder]:
        """All folders with placemarks, or one more than there may be; and all of them together."""
        folders: dict[int, _Folder] = {}
        everything = _Folder()
        with closing(self._open()) as stream:
            for element in read_elements(stream, WITHOUT_GEOMETRIES):
                if element.name == "NetworkLink":
                    self._note(_LINKS)
                elif element.name == "Schema":
                    self._data.add_schema(element)
                elif (parent := element.parent) is not None:
                    columns = self._data.properties(element)
                    everything.add(iter(columns))
                    if parent.number in folders or len(folders) < LAYERS:
                        folders.setdefault(parent.number, _Folder(parent)).add(iter(columns))
        return list(folders.values()), everything

    def _set_layers(self, folders: list[_Folder], everything: _Folder) -> None:
        if not everything.features:
            hint = self.notes[0] if self.notes else "Save the places themselves as KML."
            raise FileInvalid(f"The KML file has no placemarks. {hint}")
        if len(folders) > 1:
            everything.columns.add(_FOLDER)
            folders.append(everything)
        if len(folders) > LAYERS:
            self._note(_MANY)
            del folders[:-1]
        layers = []
        for name, folder in zip(_names(folders), folders, strict=True):
            self._folders[name] = folder.element.number if folder.element else None
            layers.append(Layer(name, folder.features, folder.columns.names()))
        self.layers = tuple(layers)

    def read(self, layer: Layer, crs: str | None = None) -> Iterator[SourceFeature]:
        """As ``Reader.read``. KML is always in degrees on WGS 84, so ``crs`` is not used."""
        wanted = self._folders[layer.name]
        positions = PositionCount()
        number = 0
        with closing(self._open()) as stream:
            for element in read_elements(stream, WITH_GEOMETRIES):
                parent = element.parent
                if element.name == "Placemark" and parent and wanted in (None, parent.number):
                    number += 1
                    feature = self._feature(number, element, positions)
                    if wanted is None:
                        feature.properties.setdefault(_FOLDER, " / ".join(_path(parent)))
                    yield feature

    def _feature(self, number: int, placemark: Element, positions: PositionCount) -> SourceFeature:
        shape = PlacemarkShape()
        shape.read(placemark)
        positions.add(shape.positions)
        if shape.has_heights:
            self._note(_HEIGHTS)
        properties = self._data.properties(placemark)
        return SourceFeature(number, shape.geometry, properties, tuple(shape.problems))

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


class KmzReader(KmlReader):
    """A KML file in a zip file; where there are several, ``doc.kml``, or the first."""

    format: ClassVar[str] = "kmz"

    def __init__(self, path: Path) -> None:
        """Raises FileInvalid when the file is broken, or has no KML file with placemarks."""
        self._archive = Archive(path)
        try:
            members = sorted(kml_members(self._archive), key=_precedence)
            if not members:
                raise FileInvalid("The zip file has no KML file in it.")
            self._member = members[0]
            super().__init__(path)
        except BaseException:
            self.close()
            raise
        if members[1:]:
            self._note(
                f"The KMZ file has {len(members)} KML files, of which only "
                f"{shown(self._member)} was read."
            )

    def _open(self) -> BinaryIO:
        return self._archive.open(self._member)

    def close(self) -> None:
        self._archive.close()


def kml_members(archive: Archive) -> list[str]:
    """The names of the KML files in a zip file."""
    return [name for name in archive.members if name.lower().endswith(".kml")]


def _precedence(name: str) -> tuple[bool, int]:
    path = PurePosixPath(name.lower())
    return path.name != "doc.kml", len(path.parts)


def _path(folder: Element) -> list[str]:
    """The names of a Folder and the Folders around it, from the outermost; or of a Document."""
    around = folder.parent
    path = _path(around) if around and around.name == "Folder" else []
    name = " ".join((folder.text_of("name") or "").split())[:_NAME_LENGTH]
    return [*path, name] if name else path


def _names(folders: list[_Folder]) -> list[str]:
    """A name for each layer: that of its folder, with those around it where another has the same
    one."""
    paths = [_path(one.element) or [_UNNAMED] if one.element else [_ALL] for one in folders]
    own = Counter(path[-1] for path in paths)
    names: list[str] = []
    for path in paths:
        name = path[-1] if own[path[-1]] == 1 else " / ".join(path)
        numbered = (f"{name} ({number})" for number in count(2))
        names.append(next(one for one in chain([name], numbered) if one not in names))
    return names
