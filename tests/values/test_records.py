"""Records of the fields that ``app.policy.fields`` lists."""

from __future__ import annotations

from types import SimpleNamespace

from app.policy import kinds
from app.policy.fields import ASSET, PROJECT, Field

FIELDS = (
    Field("name", kinds.TEXT, writable="always"),
    Field("area_hectares", kinds.HECTARES, column="area_m2", nullable=True),
    Field("location", kinds.POINT, nullable=True, writable="always"),
    Field("geometry", kinds.BOUNDARY, nullable=True, writable="always", in_events=False),
)
MODEL = SimpleNamespace(name="N", area_m2="A", location="L", geometry="G")


def test_names_and_columns_are_identifiers() -> None:
    """The readers of rows are made of them."""
    cases: list[tuple[Field, ...]] = [PROJECT, ASSET]
    for table in cases:
        names = [name for field in table for name in (field.name, field.stored_as)]
        assert all(name.isidentifier() for name in names), table
        assert len({field.name for field in table}) == len(table), table
