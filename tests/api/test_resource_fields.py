"""What validates and shows a field, whatever the table of fields says of it."""

from __future__ import annotations

from typing import get_args

import pytest

from app.api.resource_fields import create_fields, update_fields
from app.policy.fields import Field, Kind


@pytest.mark.parametrize("kind", sorted(set(get_args(Kind)) - {"id", "slug", "hectares", "time"}))
def test_a_field_of_any_kind_can_be_described(kind: Kind) -> None:
    field = Field("note", kind, description="Where.", writable="always", nullable=True, longest=9)
    for made in (create_fields([field]), update_fields([field])):
        assert made["note"].metadata["description"] == "Where."
