"""Every form of operators has its one entry in the log of the instance."""

from __future__ import annotations

from typing import Final

import pytest

from app.policy.audit import INSTANCE
from tests.auth.test_page_matrix import routes
from tests.make import Browser, Client
from tests.make.audit import new_entries
from tests.pages.support import post
from tests.site.form_fields import FIELDS_OF

ACTIONS: Final[dict[str, str | None]] = {
    "/operator/accounts/<account_id>/plan": "account.updated",
    "/operator/doctor": None,
    "/operator/log/export": "audit_log.exported",
    "/operator/message": "instance.message_shown",
    "/operator/message/remove": "instance.message_removed",
    "/operator/sign-up": "instance.sign_up_closed",
}


def test_the_table_has_every_form() -> None:
    forms = [each.rule for each in routes() if each.method == "POST"]
    assert sorted(ACTIONS) == sorted(each for each in forms if each.startswith("/operator"))


def test_a_form_has_one_entry(client: Client, operator: Browser, subtests: pytest.Subtests) -> None:
    for rule, action in ACTIONS.items():
        path = rule.replace("<account_id>", client.account_id)
        fields = FIELDS_OF.get(rule, {}) | ({"was_plan": "enterprise"} if "plan" in rule else {})
        with subtests.test(rule), new_entries(client, INSTANCE) as found:
            response = post(operator, path, **fields).response
            response.get_data()
            assert response.status_code in (200, 303)
        with subtests.test(f"{rule}, its entry"):
            entered = [each for each in found if each["account_id"] == INSTANCE]
            assert [each["action"] for each in entered] == ([action] if action else [])
            for each in entered:
                assert each["actor"]["type"] == "person"
                assert each["actor"]["id"] == client.owner_id


def test_looking_is_not_entered(client: Client, operator: Browser) -> None:
    with new_entries(client, INSTANCE) as found:
        for path in ("", "/accounts", f"/accounts/{client.account_id}", "/people", "/log"):
            operator.get(f"/operator{path}")
    assert found == []
