"""What validates and shows a field, whatever the table of fields says of it."""

from __future__ import annotations

from app.api.resource_schemas import create_fields, update_fields
from app.policy import kinds
from app.policy.fields import Field
from app.policy.kinds import Kind

KINDS = [each for each in vars(kinds).values() if isinstance(each, Kind)]
NOT_WRITTEN = (kinds.ID, kinds.COUNTRY, kinds.HECTARES, kinds.TIME)


def test_a_field_of_any_kind_can_be_described() -> None:
    for kind in KINDS:
        if kind not in NOT_WRITTEN:
            field = Field(
                "note", kind, description="A.", writable="always", nullable=True, longest=9
            )
            for fields in (create_fields([field]), update_fields([field])):
                assert fields["note"].metadata["description"] == "A."
