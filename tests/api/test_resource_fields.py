"""What validates and shows a field, whatever the table of fields says of it."""

from __future__ import annotations

import pytest

from app.api.resource_fields import create_fields, update_fields
from app.policy import kinds
from app.policy.fields import Field
from app.policy.kinds import Kind

KINDS = [each for each in vars(kinds).values() if isinstance(each, Kind)]
NOT_WRITTEN = (kinds.ID, kinds.COUNTRY, kinds.HECTARES, kinds.TIME)


@pytest.mark.parametrize(
    "kind", [each for each in KINDS if each not in NOT_WRITTEN], ids=lambda kind: kind.name
)
def test_a_field_of_any_kind_can_be_described(kind: Kind) -> None:
    field = Field("note", kind, description="Where.", writable="always", nullable=True, longest=9)
    for made in (create_fields([field]), update_fields([field])):
        assert made["note"].metadata["description"] == "Where."
