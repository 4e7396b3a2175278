"""Bodies of projects, accounts, and of the check of a geometry."""

from __future__ import annotations

from typing import Any

from app.policy import request_limits
from tests.api.corpus.case import PROJECT, VALIDATE, Bad, create

LONG = "x" * (request_limits.NAME_LENGTH + 1)
LONG_TEXT = "x" * (request_limits.DESCRIPTION_LENGTH + 1)


def _put(what: str, fields: str, body: Any) -> Bad:
    return Bad(f"change: {what}", "PUT", PROJECT, 422, fields, body)


def _account(what: str, fields: str, body: Any) -> Bad:
    return Bad(f"change: {what}", "PUT", "/v1/account", 422, fields, body)


CASES = [
    create("no name", "name", {}),
    create("name null", "name", {"name": None}),
    create("name of spaces", "name", {"name": " \t\n  "}),
    create("name too long", "name", {"name": LONG}),
    create("name a number", "name", {"name": 5}),
    create("name with NUL", "name", {"name": "For\x00est"}),
    create("description a number", "description", {"name": "A", "description": 5}),
    create("description too long", "description", {"name": "A", "description": LONG_TEXT}),
    create("status", "status", {"name": "A", "status": "active"}),
    create("an unknown field", "colour", {"name": "A", "colour": "green"}),
    create("a field in other letters", "Name", {"name": "A", "Name": "B"}),
    create("an empty field name", "body", {"name": "A", "": 1}),
    create("a field name of 10,000 letters", "y" * 200 + "…", {"name": "A", "y" * 10_000: 1}),
    create("the column behind a field", "area_m2", {"name": "A", "area_m2": 1}),
    create("an attribute of the schema", "__class__", {"name": "A", "__class__": {}}),
    create("everything wrong", "name description geometry status", {
        "name": "", "description": 1, "geometry": 1, "status": "active",
    }),
    _put("name null", "name", {"name": None}),
    _put("status null", "status", {"status": None}),
    _put("status unknown", "status", {"status": "deleted"}),
    _put("status a number", "status", {"status": 1}),
    _put("geometry a string", "geometry", {"geometry": "POLYGON((0 0, 1 0, 1 1, 0 0))"}),
    _put("an unknown field beside good ones", "owner", {"name": "A", "owner": "me"}),
    _account("account name null", "name", {"name": None}),
    _account("account with an unknown field", "owner", {"owner": "me"}),
    Bad("nothing to check", "POST", VALIDATE, 422, "geometry", {}),
    Bad("a check of something else", "POST", VALIDATE, 422, "geometry name", {"name": "A"}),
]  # fmt: skip
