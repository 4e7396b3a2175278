"""Bodies of projects, accounts, and of the check of a geometry."""

from __future__ import annotations

from typing import Any

from tests.api.corpus.case import PROJECT, VALIDATE, Bad, create


def _put(what: str, fields: str, body: Any) -> Bad:
    return Bad(f"change: {what}", "PUT", PROJECT, 422, fields, body)


CASES = [
    create("name of spaces", "name", {"name": " \t\n  "}),
    create("name with NUL", "name", {"name": "For\x00est"}),
    create("external_id of spaces", "external_id", {"name": "A", "external_id": "  "}),
    create("status", "status", {"name": "A", "status": "active"}),
    create("a field in other letters", "Name", {"name": "A", "Name": "B"}),
    create("an empty field name", "body", {"name": "A", "": 1}),
    create("a field name of 10,000 letters", "y" * 200 + "…", {"name": "A", "y" * 10_000: 1}),
    create("the column behind a field", "area_m2", {"name": "A", "area_m2": 1}),
    create("an attribute of the schema", "__class__", {"name": "A", "__class__": {}}),
    create("everything wrong", "name description geometry status", {
        "name": "", "description": 1, "geometry": 1, "status": "active",
    }),
    _put("geometry a string", "geometry", {"geometry": "POLYGON((0 0, 1 0, 1 1, 0 0))"}),
    _put("an unknown field beside good ones", "owner", {"name": "A", "owner": "me"}),
    Bad("nothing to check", "POST", VALIDATE, 422, "geometry", {}),
    Bad("a check of something else", "POST", VALIDATE, 422, "geometry name", {"name": "A"}),
]  # fmt: skip
