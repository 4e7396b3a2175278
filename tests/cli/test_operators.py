"""``bin/canopy operator``."""

from __future__ import annotations

import orjson

from app.auth.people import find_person
from app.db.transactions import transaction
from tests.cli.conftest import Run
from tests.make import Client, make_member


def emails(run: Run) -> list[str]:
    return [each["email"] for each in orjson.loads(run("operator", "list", "--json").output)]


def test_an_operator_is_added_and_removed(run: Run, client: Client) -> None:
    email = make_member(client).email
    assert email not in emails(run)
    made = orjson.loads(run("operator", "add", email.upper(), "--json").output)
    assert made["added"] is True
    assert emails(run)[-1] == email
    again = orjson.loads(run("operator", "add", made["id"], "--json").output)
    assert again["added"] is False
    removed = orjson.loads(run("operator", "remove", email, "--json").output)
    assert removed == {"id": made["id"], "email": email, "removed": True}
    assert email not in emails(run)
    assert "removed  no" in run("operator", "remove", email).output


def test_somebody_who_is_not_here(run: Run) -> None:
    for command in ("add", "remove"):
        result = run("operator", command, "nobody@example.com")
        assert result.exit_code == 1
        assert "There is no person with the id or email address" in result.output


def test_an_address_that_is_not_confirmed_is_told(run: Run, client: Client) -> None:
    email = make_member(client).email
    with client.app.app_context(), transaction():
        person = find_person(email)
        assert person is not None
        person.email_verified_at = None
    assert "email_verified     no" in run("operator", "add", email).output
    run("operator", "remove", email)
