"""The producers that a file for the EUDR names."""

from __future__ import annotations

from collections.abc import Iterator

from app.formats.features import SourceFeature
from app.values.text import pluralize


class Producers:
    """Counts the producers of a file, and the features that name one without its country."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._without_country = 0

    def count(self, feature: SourceFeature) -> SourceFeature:
        """Count a feature, and return it."""
        name = feature.properties.get("ProducerName")
        if name not in (None, ""):
            self._names.add(str(name).strip())
            country = feature.properties.get("ProducerCountry")
            self._without_country += country in (None, "")
        return feature

    def notes(self) -> Iterator[str]:
        """Yield a sentence if the file is not one for several producers, and names several."""
        if len(self._names) < 2 or not self._without_country:
            return
        have = "has" if self._without_country == 1 else "have"
        yield (
            f"The file names {len(self._names):,} producers, and "
            f"{pluralize(self._without_country, 'feature')} {have} no ProducerCountry. The EUDR "
            "Information System takes a file for one producer (variant 1) without it; for several, "
            "each plot needs ProducerCountry."
        )
