"""Names that nothing can have, and an account that was named before they were refused."""

from __future__ import annotations

import json
import re
from typing import Final

from app.db.extensions import db
from app.db.transactions import transaction
from tests.make import Client, make_project, square

NOT_NAMES: Final = (
    "\x1b[2J", "a\x00b", "a\x7fb", "a\x9bb", "two\nlines", "two\r\nlines", "a\tb", "a\u2028b",
    "\ufdd0", "\ufffe", "\U0010ffff", "\u200b\u200e", "\u3164", "\u2800\ufe0f",
)  # fmt: skip
STORED: Final = "Be\x1b]2_x\x07ech \x9b\ufdd0 line"
SHOWN: Final = "Be\ufffd]2_x\ufffdech \ufffd\ufffd line"
CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0]")


def make_stored(client: Client) -> str:
    """Name the account, its owner and a project as it was possible once. Returns the project's
    id."""
    project = make_project(client, geometry=square(), metadata={"note": "x"})
    statements = (
        "UPDATE projects SET name = :name, metadata = :metadata WHERE id = :id",
        "UPDATE accounts SET name = :name WHERE id = :account",
        "UPDATE users SET name = :name WHERE id = :owner",
    )
    ids = {"id": project["id"], "account": client.account_id, "owner": client.owner_id}
    with client.app.app_context(), transaction():
        for statement in statements:
            values = ids | {"name": STORED, "metadata": json.dumps({STORED: [STORED]})}
            used = {name: each for name, each in values.items() if f":{name}" in statement}
            db.session.execute(db.text(statement), used)
    found: str = project["id"]
    return found
