"""KML 2.2 (OGC 07-147r2) and KMZ, with Google's tracks. Links out of the file are not followed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, TypeAlias
from urllib.parse import unquote

from app.formats.crs import chosen_projection, in_degrees, read_crs
from app.formats.features import FileInvalid, FormatReader, Layer, SourceFeature
from app.formats.readers.archive import Archive
from app.formats.readers.kml_data import (
    KNOWN,
    OVERLAYS,
    WITH_GEOMETRIES,
    WITHOUT_GEOMETRIES,
    PlacemarkData,
)
from app.formats.readers.kml_geometry import PlacemarkShape
from app.formats.readers.layer_limits import Columns, PositionCount, quoted, unique_name
from app.formats.readers.xml_elements import Element, ElementFilter, read_elements
from app.policy.files import LAYERS

ALL_FOLDERS: Final = "All folders"
_FOLDER: Final = "folder"  # a column of that layer, with the names of the folders
_UNNAMED: Final = "Placemarks"
_NAME_LENGTH: Final = 100

_HEIGHTS: Final = "Heights were left out."
_MOST_NOTES: Final = 20
_MODELS: Final = "Of a Model, a building or the like in space, only the location was read."
_PICTURES: Final = "Pictures of descriptions were left out."
_LINKS: Final = (
    "The file refers to another one (NetworkLink), which was not read. To import its contents, "
    "save it as a separate file."
)
_FOLDERS: Final = "Descriptions and data of folders were left out."
_TRACKS: Final = "Times and other values of the points of tracks were left out."
_OVERLAYS: Final = "Images on the map (overlays) were left out."
_FolderKey: TypeAlias = tuple[str, int]  # the file that a folder is in, and its number there
_Folder: TypeAlias = tuple[Element | None, Columns]  # no element: all of them together

_MANY: Final = f"The file has more than {LAYERS - 1} folders with placemarks, shown as one layer."


class KmlReader(FormatReader):
    """A layer for each Folder or Document that has placemarks, and one for all of them together
    when there are several."""

    def __init__(self, path: Path) -> None:
        """Raise FileInvalid when the file is broken or has no placemarks."""
        super().__init__()
        self._path = path
        self._data = {file: PlacemarkData() for file in self._files()}
        self._keys: dict[str, _FolderKey | None] = {}  # by the name of the layer
        self._set_layers(*self._scan())

    def _files(self) -> list[str]:
        """The names of the KML files in the file. A single one needs none."""
        return [""]

    def _open(self, _: str) -> BinaryIO:
        return self._path.open("rb")

    def _is_read(self, _: str) -> bool:
        """True if a link refers to a KML file in the file."""
        return False

    def _scan(self) -> tuple[Columns, dict[_FolderKey | None, _Folder]]:
        """The columns of all placemarks, and the folders with some, at most LAYERS of them."""
        everything, folders = Columns(), dict[_FolderKey | None, _Folder]()
        for file in self._data:
            for element in self._elements(file, WITHOUT_GEOMETRIES):
                if element.name in OVERLAYS:
                    self.note(_OVERLAYS)
                elif element.name == "NetworkLink":
                    links = (link.text_of("href") or "" for link in element.named("Link", "Url"))
                    self.note(None if all(map(self._is_read, links)) else _LINKS)
                elif element.name == "Schema":
                    self._data[file].add_schema(element)
                elif parent := element.parent:
                    if any(parent.named("description", "ExtendedData")):
                        self.note(_FOLDERS)
                    columns = self._data[file].properties(element)
                    everything.add_feature(columns)
                    key = file, parent.number
                    if key in folders or len(folders) < LAYERS:
                        folders.setdefault(key, (parent, Columns()))[1].add_feature(columns)
        return everything, folders

    def _set_layers(self, everything: Columns, folders: dict[_FolderKey | None, _Folder]) -> None:
        if not everything.features:
            hint = self.notes[0] if self.notes else "Save the places themselves as KML."
            raise FileInvalid(f"The KML file has no placemarks. {hint}")
        if len(folders) > 1:
            everything.add(_FOLDER)
            folders[None] = None, everything
        if len(folders) > LAYERS:
            self.note(_MANY)
            folders = {None: (None, everything)}
        names = _layer_names([element for element, _ in folders.values()])
        self._keys = dict(zip(names, folders, strict=True))
        self.layers = tuple(
            Layer(name, columns.features, columns.names())
            for name, (_, columns) in zip(names, folders.values(), strict=True)
        )

    def _elements(self, file: str, element_filter: ElementFilter) -> Iterator[Element]:
        with self._open(file) as stream:
            yield from read_elements(stream, element_filter)

    def read_features(self, layer: Layer, crs: str | None = None) -> Iterator[SourceFeature]:
        """As ``FormatReader.read_features``. KML is in degrees on WGS 84."""
        projection = chosen_projection(self, read_crs("EPSG:4326"), crs)
        folder = self._keys[layer.name]
        positions = PositionCount()
        for number, (file, placemark) in enumerate(self._placemarks(folder), start=1):
            feature = self._feature(number, placemark, self._data[file], positions)
            feature = in_degrees(feature, projection)
            if folder is None and placemark.parent:
                feature.properties.setdefault(_FOLDER, " / ".join(_folder_path(placemark.parent)))
            yield feature

    def _placemarks(self, folder: _FolderKey | None) -> Iterator[tuple[str, Element]]:
        """Yield the placemarks of a folder, or all of them, with the name of their file."""
        for file in self._data if folder is None else [folder[0]]:
            for element in self._elements(file, WITH_GEOMETRIES):
                parent = element.parent
                is_in_folder = folder is None or (parent and parent.number == folder[1])
                if element.name == "Placemark" and is_in_folder:
                    yield file, element

    def _feature(
        self, number: int, placemark: Element, data: PlacemarkData, positions: PositionCount
    ) -> SourceFeature:
        shape = PlacemarkShape()
        shape.read(placemark)
        positions.add(shape.positions)
        self.note(_HEIGHTS if shape.has_heights else None)
        self.note(_MODELS if shape.has_models else None)
        for child in placemark.children:
            if child.name not in KNOWN and len(self.notes) < _MOST_NOTES:
                self.note(f"Elements <{quoted(child.name)[1:-1]}> of placemarks were left out.")
        self.note(_TRACKS if any(placemark.named("Track", "MultiTrack")) else None)
        properties = data.properties(placemark)
        self.note(_PICTURES if data.pictures else None)
        return SourceFeature(number, shape.geometry, properties, tuple(shape.problems))


class KmzReader(KmlReader):
    """A zip file with KML files, ``doc.kml`` before the others."""

    def __init__(self, path: Path) -> None:
        """Raise FileInvalid when the file is broken, or has no KML file with placemarks."""
        self._archive = Archive(path)
        try:
            super().__init__(path)
        except BaseException:
            self.close()
            raise

    def _files(self) -> list[str]:
        members = [name for name in self._archive.members if name.lower().endswith(".kml")]
        if not members:
            raise FileInvalid("The zip file has no KML file in it.")
        self._names = {PurePosixPath(name).name for name in members}
        return sorted(members, key=_document_precedence)

    def _open(self, file: str) -> BinaryIO:
        return self._archive.open(file)

    def _is_read(self, link: str) -> bool:
        path = unquote(re.split("[?#]", link)[0])
        return ":" not in path and PurePosixPath(path).name in self._names

    def close(self) -> None:
        self._archive.close()


def _document_precedence(name: str) -> tuple[bool, int]:
    path = PurePosixPath(name.lower())
    return path.name != "doc.kml", len(path.parts)


def _folder_path(folder: Element) -> list[str]:
    """The names of the Folders around a Folder, from the outermost, and its own; or of a
    Document."""
    parent = folder.parent
    path = _folder_path(parent) if parent and parent.name == "Folder" else []
    name = next(folder.named("name"), None)
    if name is None:
        return path
    name.text = " ".join(name.text.split())[:_NAME_LENGTH]  # kept: others ask for it as well
    return [*path, name.text] if name.text else path


def _layer_names(folders: list[Element | None]) -> list[str]:
    """A name for each layer: the name of its folder, with the names of the folders around it if
    several have this name."""
    paths = [_folder_path(folder) or [_UNNAMED] if folder else [ALL_FOLDERS] for folder in folders]
    counts = Counter(path[-1] for path in paths)
    names: list[str] = []
    for path in paths:
        name = path[-1] if counts[path[-1]] == 1 else " / ".join(path)
        names.append(unique_name(name, names))
    return names
