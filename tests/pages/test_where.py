"""Where a place is, in words."""

from __future__ import annotations

import pytest

from app.gazetteer import has_towns
from app.geometry.countries import has_world
from app.pages.where import where_it_lies

pytestmark = pytest.mark.skipif(
    not (has_world() and has_towns()), reason="the countries or towns are not installed"
)


def test_where_places_lie(subtests: pytest.Subtests) -> None:
    in_the_sea = "In the sea, or on an island that the map lacks, "
    for name, longitude, latitude, country, words in (
        ("a town", 22.9657, 46.4533, "RO", "In Romania, near Albac, 46.4533° N 22.9657° E"),
        ("an article", 5.5, 52.3, "NL", "In the Netherlands, near Zeewolde, 52.3000° N 5.5000° E"),
        ("far", -60.0, -3.0, None, "In Brazil, 12 km from Manaus, 3.0000° S 60.0000° W"),
        ("abroad", 21.3, 46.6, None, "In Hungary, near Vărșand in Romania, 46.6000° N 21.3000° E"),
        ("of the boundary", 7.61, 47.64, "CH", "In Switzerland, near Binzen in Germany, 47.6400°"),
        ("antimeridian", 179.99, -16.9, "FJ", "In Fiji, 71 km from Savusavu, 16.9000° S 179.9900°"),
        ("sea", -30.0, -40.0, None, f"{in_the_sea}40.0000° S 30.0000° W"),
        ("off Romania", 29.5, 44.2, None, f"{in_the_sea}67 km from Vadu in Romania, 44.2000°"),
        ("an island", -130.1, -25.06, None, "Near Adamstown in the Pitcairn Islands, 25.0600° S"),
        ("pole", 10.0, 90.0, None, f"{in_the_sea}90.0000° N 10.0000° E"),
        ("unknown", 22.9657, 46.4533, False, "In Romania, near Albac, "),
    ):
        with subtests.test(name):
            said = where_it_lies(longitude, latitude, country).replace("\N{NO-BREAK SPACE}", " ")
            assert said.startswith(words)
