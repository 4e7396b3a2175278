"""The people of the instance, for operators."""

from __future__ import annotations

import pytest

from app.policy.forms import FIELD_LENGTH
from app.policy.instance import ACCOUNTS_SHOWN
from tests.make import Browser, Client, make_account, make_invited, make_member
from tests.make.browser import Page
from tests.pages.operator.support import change_person
from tests.sent_statements import sent_statements

PATH = "/operator/people"


def found(operator: Browser, search: str, **others: str) -> Page:
    query = "&".join(f"{name}={value}" for name, value in {"search": search, **others}.items())
    return operator.get(f"{PATH}?{query}")


def test_a_person_with_their_accounts(client: Client, operator: Browser) -> None:
    member = make_member(client, "editor")
    change_person(client, member.id, password_hash="x")
    page = found(operator, member.email.upper())
    assert "1 person" in page.text
    assert member.email in page.text
    assert "editor" in page.text
    assert f"/operator/accounts/{client.account_id}" in page.links
    assert "bin/canopy user reset-second-factor EMAIL" in page.text
    assert '<td data-label="Second factor">off</td>' in page.response.get_data(as_text=True)


def test_somebody_who_was_only_invited(client: Client, operator: Browser) -> None:
    email = make_invited(client)["email"]
    page = found(operator, email)
    assert "not signed up" in page.text
    assert "never" in page.text
    assert '<td data-label="Second factor">–</td>' in page.response.get_data(as_text=True)


def test_somebody_who_has_not_confirmed_their_address(client: Client, operator: Browser) -> None:
    member = make_member(client)
    change_person(client, member.id, email_verified_at=None, password_hash="x")
    assert "not verified" in found(operator, member.email).text


@pytest.mark.both
def test_orders(client: Client, operator: Browser) -> None:
    mark = client.account_id[5:]
    first = make_member(client, email=f"b-{mark}@example.org")
    second = make_member(client, email=f"a-{mark}@example.org")
    change_person(client, first.id, name=f"Ash {mark}")
    change_person(client, second.id, name=f"birch {mark}")
    for sort, expected in (
        ("newest", (second, first)),
        ("email", (second, first)),
        ("name", (first, second)),
        ("nonsense", (second, first)),
    ):
        text = found(operator, mark, sort=sort).text
        assert text.index(expected[0].email) < text.index(expected[1].email), sort
    assert "1 person" in found(operator, f"ash {mark}").text  # in any case


def test_whatever_is_searched_for(operator: Browser) -> None:
    for search in ["%00", "%ed%a0%80", "x" * FIELD_LENGTH, "'\"<b>&", "%25", "_"]:
        page = found(operator, search, page="-3", sort="")
        assert page.status == 200
        assert "<b>&" not in page.response.get_data(as_text=True)


def test_somebody_in_many_accounts(client: Client, operator: Browser) -> None:
    email = make_member(client).email
    others = [make_account(client.app) for _ in range(ACCOUNTS_SHOWN)]
    for other in others:
        make_member(other, email=email)
    operator.get(PATH)
    with sent_statements() as sent:
        page = found(operator, email)
    assert "and 1 more" in page.text
    assert len([each for each in sent if "memberships.user_id" in each]) < 6
