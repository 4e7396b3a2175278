"""Every form of operators has its one entry in the log of the instance."""

from __future__ import annotations

import pytest

from app.policy.audit import INSTANCE
from tests.auth.page_table import PAGES, forms_with_entries
from tests.make import Browser, Client
from tests.make.audit import new_entries
from tests.pages.support import post
from tests.site.form_fields import FIELDS_OF


def test_a_form_has_one_entry(client: Client, operator: Browser, subtests: pytest.Subtests) -> None:
    for rule in (each for each in forms_with_entries() if each.startswith("/operator")):
        path = rule.replace("<account_id>", client.account_id)
        fields = FIELDS_OF.get(rule, {}) | ({"was_plan": "enterprise"} if "plan" in rule else {})
        with subtests.test(rule), new_entries(client, INSTANCE) as found:
            response = post(operator, path, **fields).response
            response.get_data()
            assert response.status_code in (200, 303)
        with subtests.test(f"{rule}, its entry"):
            entered = [each for each in found if each["account_id"] == INSTANCE]
            assert [each["action"] for each in entered] == PAGES[f"POST {rule}"].actions
            for each in entered:
                assert each["actor"]["type"] == "person"
                assert each["actor"]["id"] == client.owner_id


def test_looking_is_not_entered(client: Client, operator: Browser) -> None:
    with new_entries(client, INSTANCE) as found:
        for path in ("", "/accounts", f"/accounts/{client.account_id}", "/people", "/log"):
            operator.get(f"/operator{path}")
    assert found == []
