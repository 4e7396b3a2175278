"""By whom the entries of the audit log are filtered: chosen, or typed where there are many."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from app.audit.log.actors import list_actors
from app.audit.origin import Actor
from app.policy.forms import FIELD_LENGTH
from tests.make import Browser, Client, make_entry, make_key, make_project
from tests.make.audit import ANA
from tests.make.browser import Page

PATH = "/audit-log"
ROBIN = Actor("person", "user_01arz3ndektsv4rrffq69g5fbv", "robin@forest.example.org")
QUOTED = Actor("api_key", "key_01arz3ndektsv4rrffq69g5fcv", 'Größe "7" \\ main')
SYNC = Actor("api_key", "key_01arz3ndektsv4rrffq69g5fav", "Sync")
OTHER_SYNC = Actor("api_key", "key_01arz3ndektsv4rrffq69g5fbv", "sync")


def _shown(page: Page) -> list[str]:
    return ["aud_" + each.partition('"')[0] for each in page.response.text.split('" id="aud_')[1:]]


def _is_chosen(page: Page, actor: Actor) -> bool:
    return f'<option value="{actor.id}" selected>' in page.response.text


def _show(browser: Browser, **fields: str) -> Page:
    """Press the button of the form that the page at hand has."""
    assert browser.page is not None
    return browser.get(f"{PATH}?{urlencode(browser.page.form(PATH).fields | fields)}")


@pytest.fixture
def _many(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are too many to choose from."""
    monkeypatch.setattr("app.pages.audit_log.filters.MOST_OFFERED", 0)


def test_whoever_did_something_can_be_chosen(client: Client, owner: Browser) -> None:
    """Also people who have left the account, and keys that were revoked."""
    key = make_key(client, permissions=["projects:write"], name="Nightly export")
    make_project(key)
    client.delete(f"/v1/account/api-keys/{key.credential_id}")
    made = make_entry(client, actor=ROBIN)
    page = owner.get(PATH)
    offered = page.response.text.partition("What was done")[0]
    for group, name in (("People", ROBIN.label), ("API keys", "Nightly export")):
        assert f'<optgroup label="{group}">' in offered
        assert f">{name}</option>" in offered
    page = _show(owner, actor_id=ROBIN.id)
    assert _shown(page) == [made]
    assert _is_chosen(page, ROBIN)
    assert page.form(f"{PATH}/export").fields["actor_id"] == ROBIN.id
    assert _is_chosen(owner.get(f"{PATH}?actor_id={QUOTED.id}"), QUOTED)  # who has no entries


def test_each_is_offered_once_by_the_newest_name(client: Client) -> None:
    for label in ("rob@example.org", ROBIN.label):
        for actor in (ROBIN, SYNC, ROBIN):
            make_entry(client, actor=actor._replace(label=label))
    for most in (1, 2, 3):
        with client.app.app_context():
            found = list_actors(client.account_id, most)
        expected = [(ROBIN.id, "person", ROBIN.label), (SYNC.id, "api_key", ROBIN.label)]
        assert found == expected[:most]


def test_keys_with_one_name_are_told_apart(client: Client, owner: Browser) -> None:
    make_entry(client, actor=SYNC)
    make_entry(client, actor=OTHER_SYNC._replace(label="Sync"))
    page = owner.get(PATH)
    for key in (SYNC, OTHER_SYNC):
        assert f"Sync ({key.id})" in page.text


@pytest.mark.usefixtures("_many")
def test_where_there_are_many_a_name_is_typed(client: Client, owner: Browser) -> None:
    make_entry(client, actor=ANA)
    made = [make_entry(client, actor=ROBIN) for _ in range(2)][::-1]
    for typed in (ROBIN.label, f"  {ROBIN.label.upper()} ", ROBIN.id):
        owner.get(PATH)
        page = _show(owner, who=typed)
        assert _shown(page) == made
        assert f"by {ROBIN.label}" in page.text
    fields = page.form(PATH).fields
    assert (fields["actor_id"], fields["who"]) == (ROBIN.id, "")
    assert page.form(f"{PATH}/export").fields["actor_id"] == ROBIN.id
    assert _shown(_show(owner, action="project.updated")) == made
    assert f"by {ANA.label}" in _show(owner, who=ANA.label).text


@pytest.mark.usefixtures("_many")
def test_a_name_that_nobody_has(client: Client, owner: Browser) -> None:
    made = make_entry(client, actor=ROBIN)
    for strange in ("%00", "%ed%a0%80", "x" * FIELD_LENGTH, "project.updated", "%25"):
        assert "nobody in this log" in owner.get(f"{PATH}?who={strange}").text
    page = owner.get(f"{PATH}?who=<b>jo</b>")
    assert "“Who”: nobody in this log has the name “<b>jo</b>”." in page.text
    assert page.form(PATH).fields["who"] == "<b>jo</b>"
    assert made in _shown(page)


@pytest.mark.usefixtures("_many")
def test_a_name_that_json_writes_otherwise(client: Client, owner: Browser) -> None:
    made = make_entry(client, actor=QUOTED)
    owner.get(PATH)
    assert _shown(_show(owner, who=QUOTED.label.upper())) == [made]


@pytest.mark.usefixtures("_many")
def test_a_name_that_several_have(client: Client, owner: Browser) -> None:
    for key in (SYNC, OTHER_SYNC):
        make_entry(client, actor=key)
    page = owner.get(f"{PATH}?who=sync")
    assert "“Who”: 2 have the name “sync”. Choose one of them." in page.text
    for key in (SYNC, OTHER_SYNC):
        assert f'<option value="{key.id}">{key.label}</option>' in page.response.text
    page = _show(owner, actor_id=OTHER_SYNC.id)
    assert f"by {OTHER_SYNC.label}" in page.text
    assert len(_shown(page)) == 1
