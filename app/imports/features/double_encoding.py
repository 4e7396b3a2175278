"""Files in UTF-8 whose texts some program has read in another encoding, and saved again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from app.formats.encodings import TWICE, read_once
from app.formats.features import FormatReader, Layer, SourceFeature


class DoubleEncodedReader(FormatReader):
    """Another reader, with its names of columns and its texts as they were before."""

    def __init__(self, reader: FormatReader) -> None:
        super().__init__()
        self.format = reader.format
        self.notes, self._reader = reader.notes, reader
        self.geometry_choices = reader.geometry_choices
        for layer in reader.layers:
            columns = tuple(map(read_once, layer.columns))
            read = replace(layer, columns=columns, encoding=TWICE, is_guessed=False)
            self.layers += (read,)

    def read_features(self, layer: Layer, crs: str | None = None) -> Iterator[SourceFeature]:
        """As ``FormatReader.read_features``."""
        (own,) = (each for each in self._reader.layers if each.name == layer.name)
        columns = tuple(name for name in own.columns if read_once(name) in layer.columns)
        for feature in self._reader.read_features(replace(own, columns=columns), crs):
            properties = {
                read_once(name): read_once(value) if isinstance(value, str) else value
                for name, value in feature.properties.items()
            }
            yield replace(feature, properties=properties)

    def close(self) -> None:
        self._reader.close()
