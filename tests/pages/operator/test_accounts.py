"""The accounts of the instance, for operators."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Account, AccountUsage
from app.policy.audit import INSTANCE
from app.policy.forms import FIELD_LENGTH
from app.values import clock
from app.values.ids import new_id
from tests.account.deletion.support import set_deletion, slug_of
from tests.make import Browser, Client, make_invited, make_member
from tests.make.audit import audit_entries, new_entries
from tests.make.browser import Page
from tests.pages.support import post

PATH = "/operator/accounts"


def make_accounts(client: Client, *names: str, **usage: int) -> list[str]:
    """Put in accounts with these names, each newer than the one before. Returns their ids."""
    moment, ids = clock.now(), [new_id("account") for _ in names]
    with client.app.app_context(), transaction():
        for place, (account_id, name) in enumerate(zip(ids, names, strict=True)):
            at = moment + timedelta(seconds=place)
            values = {"type": "organization", "plan": "free", "created_at": at, "updated_at": at}
            slug = account_id.replace("_", "-")
            db.session.add(Account(id=account_id, name=name, slug=slug, **values))
        db.session.flush()
        db.session.add_all(AccountUsage(account_id=each, **usage) for each in ids)
    return ids


def shown(page: Page) -> list[str]:
    """The ids of the accounts that a page lists, in its order."""
    return [path.rpartition("/")[2] for path in page.links if path.startswith(f"{PATH}/acct_")]


def plan_of(client: Client) -> str:
    return str(client.get("/v1/account").json["data"]["plan"])


def test_an_account_is_found_by_its_name(client: Client, operator: Browser) -> None:
    (ash, hazel) = make_accounts(client, f"Ashwood {client.account_id}", "Äußere Hazel")
    for search in (f"ashwood {client.account_id}", f"WOOD {client.account_id}"):
        assert shown(operator.get(f"{PATH}?search={search}")) == [ash]
    assert hazel in shown(operator.get(f"{PATH}?search=Äußere"))
    assert hazel in shown(operator.get(f"{PATH}?search={hazel[5:]}"))  # its short name
    page = operator.get(f"{PATH}?search=100%25_of nothing")
    assert "No account matches" in page.text
    assert PATH in page.links


@pytest.mark.both
def test_orders(client: Client, operator: Browser) -> None:
    word = f"Copse {client.account_id}"
    small = make_accounts(client, f"{word} b", area_m2=10_000, projects_draft=9, members=2)
    large = make_accounts(client, f"{word} A", area_m2=20_000, projects_active=1, members=3)
    for sort, expected in (
        ("newest", [*large, *small]),
        ("name", [*large, *small]),
        ("area", [*large, *small]),
        ("projects", [*small, *large]),
        ("members", [*large, *small]),
        ("nonsense", [*large, *small]),
    ):
        assert shown(operator.get(f"{PATH}?search={word}&sort={sort}")) == expected, sort


def test_pages(client: Client, operator: Browser) -> None:
    word = f"Spinney {client.account_id}"
    ids = make_accounts(client, *(f"{word} {number}" for number in range(51)))
    first = operator.get(f"{PATH}?search={word}")
    assert shown(first) == ids[:0:-1]
    assert "51 accounts" in first.text
    assert "Page 1 of 2" in first.text
    (following,) = [link for link in first.links if "page=2" in link]
    assert shown(operator.get(following)) == ids[:1]
    for number in ("3", "999999", "1000000000000"):
        assert len(shown(operator.get(f"{PATH}?search={word}&page={number}"))) in (1, 50)
    for number in ("0", "-1", "x", "", "²", "1e3"):
        assert shown(operator.get(f"{PATH}?search={word}&page={number}")) == ids[:0:-1], number


def test_whatever_is_searched_for(operator: Browser) -> None:
    for search in ["%00", "%ed%a0%80", "x" * FIELD_LENGTH, "'\"<>&"]:
        assert operator.get(f"{PATH}?search={search}").status == 200


def test_when_an_account_was_last_used(client: Client, operator: Browser) -> None:
    (unused,) = make_accounts(client, f"Unused {client.account_id}")
    assert "Last used never" in operator.get(f"{PATH}/{unused}").text
    client.get("/v1/projects")
    page = operator.get(f"{PATH}/{client.account_id}")
    assert re.search(r"Last used \d\d/\d\d/\d{4}, \d+:\d\d [AP]M UTC", page.text)


def test_members_are_told_from_people_who_have_not_joined(
    client: Client, operator: Browser
) -> None:
    make_member(client)
    make_invited(client)
    page = operator.get(f"{PATH}?search={slug_of(client)}")
    assert shown(page) == [client.account_id]
    html = page.response.get_data(as_text=True)
    for name, number in (("Members", 2), ("Invited", 1)):
        assert f'<td data-label="{name}" class="number">{number}</td>' in html


def test_an_account_that_there_is_not(operator: Browser) -> None:
    for account_id in ["acct_01arz3ndektsv4rrffq69g5fav", "acct_x", "%00"]:
        assert operator.get(f"{PATH}/{account_id}").status == 404
        path = f"{PATH}/{account_id}/plan"
        assert post(operator, path, plan="pro", was_plan="free").status == 404


def test_a_plan_is_changed(client: Client, operator: Browser) -> None:
    operator.get(f"{PATH}/{client.account_id}")
    with new_entries(client, INSTANCE) as found:
        page = operator.submit(f"{PATH}/{client.account_id}/plan", plan="pro")
    assert "The plan is now pro." in page.text
    assert plan_of(client) == "pro"
    own, of_instance = sorted(found, key=lambda each: each["account_id"])
    assert own["account_id"] == client.account_id
    assert {own["action"], of_instance["action"]} == {"account.updated"}
    assert own["changes"] == of_instance["changes"] == {"plan": {"from": "enterprise", "to": "pro"}}
    assert of_instance["actor"]["id"] == client.owner_id
    assert of_instance["via"]["request_id"]


def test_owners_do_not_learn_who_runs_the_instance(
    client: Client, stranger: Client, operator: Browser
) -> None:
    operator.get(f"{PATH}/{stranger.account_id}")
    operator.submit(f"{PATH}/{stranger.account_id}/plan", plan="pro")
    entry = audit_entries(client, stranger.account_id)[-1]
    assert entry["actor"] == {"type": "operator", "id": None, "label": "Operator"}
    assert set(entry["via"].values()) == {None}
    events = stranger.get("/v1/audit-log").get_data(as_text=True)
    assert client.owner_id not in events


def test_somebody_else_was_quicker(client: Client, operator: Browser) -> None:
    path = f"{PATH}/{client.account_id}/plan"
    page = post(operator, path, plan="pro", was_plan="free")
    assert page.status == 409
    assert "Somebody has just changed the plan to enterprise" in page.text
    assert plan_of(client) == "enterprise"


def test_an_unknown_plan_is_refused(client: Client, operator: Browser) -> None:
    path = f"{PATH}/{client.account_id}/plan"
    for plan in ("gold", "", "Pro"):
        assert post(operator, path, plan=plan, was_plan="enterprise").status == 422
    assert plan_of(client) == "enterprise"


def test_an_account_that_is_to_be_deleted_says_when(client: Client, operator: Browser) -> None:
    assert "Will be deleted" not in operator.get(f"{PATH}/{client.account_id}").text
    set_deletion(client.app, client.account_id, timedelta(days=1))
    page = operator.get(f"{PATH}/{client.account_id}")
    assert "Will be deleted" in page.text
    assert f"bin/canopy account cancel-deletion {slug_of(client)}" in page.text
