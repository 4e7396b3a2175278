"""The coordinate reference systems of the layers of a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from app.formats.crs import Projection, chosen_projection, read_crs
from app.formats.features import AS_IN_FILE, FileInvalid, FormatReader
from app.formats.readers.layer_limits import quoted
from app.policy.files import LAYER_SYSTEMS

_NAMED: Final = re.compile(r'\w{1,20}\s*+[\[(]\s*+"([^"]{1,100})"')  # WKT


class LayerSystems:
    """The system of each layer, which is read when it is needed: the code of one, and the way to
    WGS 84, can take a fifth of a second to find."""

    def __init__(self, reader: FormatReader, definitions: Mapping[str, tuple[str, ...]]) -> None:
        """
        Args:
            definitions: the texts that may define the system of a layer, the best first; an empty
                one alone if the file does not say it.
        """
        self._reader, self._definitions = reader, definitions
        self._found: dict[tuple[str, ...], Projection | FileInvalid | None] = {("",): None}

    def label(self, layer: str) -> tuple[str | None, float | None]:
        """``crs`` and ``accuracy`` of a layer. Of a file with more than LAYER_SYSTEMS systems, the
        others have the names in their definitions."""
        texts = self._definitions[layer]
        if texts not in self._found and len(self._found) > LAYER_SYSTEMS:
            named = next(filter(None, map(_NAMED.match, texts)), None)
            return quoted(named[1] if named else texts[-1]).strip('"'), None
        projection = self._projection(layer)
        return (projection.name, projection.accuracy) if projection else (None, None)

    def chosen(self, layer: str, crs: str | None) -> Projection:
        """The system in which ``FormatReader.read_features`` reads a layer."""
        degrees = read_crs("EPSG:4326")
        if crs == AS_IN_FILE:
            return degrees
        return chosen_projection(self._reader, self._projection(layer), crs) or degrees

    def _projection(self, layer: str) -> Projection | None:
        """The system of a layer. None: the file does not say it, or it is unknown, as a note
        says."""
        texts = self._definitions[layer]
        for text in texts if texts not in self._found else ():
            try:
                self._found[texts] = read_crs(text)
                break
            except FileInvalid as error:
                self._found[texts] = error
        found = self._found[texts]
        if isinstance(found, FileInvalid):
            self._reader.note(f"The coordinate system of {quoted(layer)} cannot be used: {found}")
            return None
        return found
