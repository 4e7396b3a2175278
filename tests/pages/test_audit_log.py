"""The page of the audit log: its lines, their links, filters and pages, and who reads it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.audit.origin import Actor, Via
from app.audit.targets import Target
from app.pages.audit_log.sentences import OF_ACCOUNT, OF_INSTANCE, action_groups
from app.policy.audit import ACTIONS, INSTANCE
from app.values import clock
from tests.make import (
    Browser,
    Client,
    audit_entries,
    make_account,
    make_application,
    make_asset,
    make_entry,
    make_import,
    make_key,
    make_member,
    make_project,
    make_webhook,
    square,
)
from tests.make.audit import ANA, make_checkpoint
from tests.make.browser import Page

PATH = "/audit-log"
ROBIN = Actor("person", "user_01arz3ndektsv4rrffq69g5fbv", "robin@forest.example.org")


def _shown(page: Page) -> list[str]:
    """The ids of the entries of a page."""
    return [each.partition('"')[0] for each in page.response.text.split('" id="aud_')[1:]]


def _short(*ids: str) -> list[str]:
    return [each.removeprefix("aud_") for each in ids]


def test_each_action_has_a_line_and_can_be_chosen(client: Client, owner: Browser) -> None:
    offered = [action for labels in action_groups().values() for action in labels]
    assert sorted(offered) == sorted(
        action for action in ACTIONS if not action.startswith((f"{INSTANCE}.", "operator."))
    )
    actions = list(ACTIONS)
    for first in range(0, len(actions), 50):  # of a page
        some = actions[first : first + 50]
        ids = [make_entry(client, one, refused=one.endswith("refused")) for one in some]
        page = owner.get(PATH)
        assert _shown(page)[: len(ids)] == _short(*reversed(ids))
        for action in some:
            before, _, after = ACTIONS[action].partition("{}")
            assert f"ana@forest.example.org {before}Hazel dell{after}" in page.text, action


def test_no_choice_of_an_action_ends_with_a_preposition() -> None:
    groups = action_groups(OF_ACCOUNT | OF_INSTANCE)
    last = {words.rpartition(" ")[2] for group in groups.values() for words in group.values()}
    assert not last & {"of", "as", "to", "from", "for", "on", "the"}


def test_what_people_did_stands_there_with_where_they_came_from(
    client: Client, owner: Browser
) -> None:
    project = make_project(client, name="Hazel dell", geometry=square())
    key = make_key(client, permissions=["projects:write"], name="Nightly export")
    key.put(f"/v1/projects/{project['id']}", {"name": "Hazel dell, north", "description": "Beech"})
    page = owner.get(f"{PATH}?target_id={project['id']}")
    assert "API key Nightly export changed the project Hazel dell, north" in page.text
    assert "Description, name" in page.text
    assert "Before Hazel dell After Hazel dell, north" not in page.text  # cells, not labels
    assert "not set" in page.text
    assert f"/projects/{project['id']}" in page.links
    newest = audit_entries(client)[-1]
    assert newest["via"]["request_id"] in page.text
    assert newest["via"]["credential"] in page.text


def test_targets_that_exist_are_linked(client: Client, owner: Browser) -> None:
    project = make_project(client)
    asset = make_asset(client, project["id"])
    webhook = make_webhook(client)
    key = make_key(client)
    application = make_application(client)
    import_id = make_import(client)
    member = make_member(client)
    page = owner.get(f"{PATH}?since=2020-01-01T00:00:00Z")
    for link in (
        f"/projects/{project['id']}",
        f"/assets/{project['id']}/{asset['id']}",
        f"/webhooks/{webhook['id']}",
        f"/api-keys#{key.credential_id}",
    ):
        assert link in page.links, link
    for kind, target_id in (
        ("application", application.id),
        ("import", import_id),
        ("member", member.id),
    ):
        made = make_entry(client, f"{kind}.updated", Target(kind, target_id, "x"))
        page = owner.get(f"{PATH}?target_id={target_id}")
        assert f"/{kind}s/{target_id}" in page.links
        assert made in page.text
    make_entry(client, "project.restored", via=Via(import_id=import_id))
    assert f"/imports/{import_id}" in owner.get(f"{PATH}?action=project.restored").links
    client.delete(f"/v1/webhooks/{webhook['id']}")
    assert f"/webhooks/{webhook['id']}" not in owner.get(PATH).links


def test_what_belongs_to_others_is_neither_shown_nor_linked(client: Client, owner: Browser) -> None:
    other = make_account(client.app)
    foreign = make_project(other)
    make_entry(client, target=Target("project", foreign["id"], "Not ours"))
    page = owner.get(PATH)
    assert f"/projects/{foreign['id']}" not in page.links
    assert audit_entries(other)[-1]["id"] not in page.text


@pytest.mark.both
def test_the_log_is_filtered(client: Client, owner: Browser) -> None:
    hazel = Target("project", "proj_01arz3ndektsv4rrffq69g5fav", "Hazel dell")
    first = make_entry(client, "project.updated", hazel)
    second = make_entry(client, "project.archived", hazel, actor=ROBIN)
    third = make_entry(client, "project.updated", actor=ROBIN)
    hour_ago = f"{clock.now() - timedelta(hours=1):%Y-%m-%dT%H:%M}"
    for query, ids in {
        f"action=project.updated&since={hour_ago}": [third, first],
        f"actor_id={ROBIN.id}": [third, second],
        f"target_id={hazel.id}": [second, first],
        f"target_id={hazel.id}&actor_id={ROBIN.id}&action=project.archived": [second],
        f"actor_id={ANA.id}&since={hour_ago}": [first],
        f"actor_id={ANA.id}&until={hour_ago}": [],
    }.items():
        page = owner.get(f"{PATH}?{query}")
        assert (page.status, _shown(page)) == (200, _short(*ids)), query
    page = owner.get(f"{PATH}?target_id={hazel.id}&until={hour_ago}")
    assert page.form(PATH).fields["until"] == f"{hour_ago}:00"
    assert page.form(PATH).fields["target_id"] == hazel.id
    assert "No entry matches these filters" in page.text
    page = owner.get(f"{PATH}?actor_id={ANA.id}")
    assert f"{PATH}?actor_id={ANA.id}&target_id={hazel.id}" in page.links


def test_a_wrong_filter_is_told_and_left_out(client: Client, owner: Browser) -> None:
    for query, message in [
        ("action=nothing", "“What was done”: choose one from the list"),
        ("action=instance.restored", "“What was done”: choose one from the list"),
        ("target_id=%00", "“About”: choose one from the list"),
        ("since=yesterday", "“From” is not a date with a time"),
        ("until=2026-99-99T00:00", "“To” is not a date with a time"),
        ("since=2026-01-02T00:00&until=2026-01-01T00:00", "“From” must be before “To”"),
    ]:
        made = make_entry(client)
        page = owner.get(f"{PATH}?{query}")
        assert message in page.text
        assert _short(made)[0] in _shown(page)


def test_older_entries_are_on_further_pages(
    client: Client, owner: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.pages.audit_log.views.PER_PAGE", 2)
    made = [make_entry(client, actor=ROBIN) for _ in range(5)]
    path, shown = f"{PATH}?actor_id={ROBIN.id}", list[str]()
    for _ in range(3):
        page = owner.get(path)
        shown += _shown(page)
        path = next((link for link in page.links if "before=" in link), "")
    assert shown == _short(*reversed(made))
    assert f"{PATH}?actor_id={ROBIN.id}" in page.links  # the newest
    page = owner.get(f"{PATH}?actor_id={ROBIN.id}&before={made[0]}")
    assert "There are no older entries with these filters." in page.text


def test_the_proof_is_told_and_can_be_kept(client: Client, owner: Browser) -> None:
    make_entry(client)
    page = owner.get(PATH)
    assert "Last checkpoint none yet" in page.text
    assert owner.get(f"{PATH}/checkpoints.json").response.get_json() == {"data": []}
    for number in (1, 2):
        make_checkpoint(client, number, first=number, last=number)
    page = owner.get(PATH)
    assert "Last checkpoint number 2" in page.text
    assert "Sealed 2 entries" in page.text
    assert f"{PATH}/checkpoints.json" in page.links
    answer = owner.get(f"{PATH}/checkpoints.json").response
    assert "audit-log-checkpoint-2.json" in answer.headers["Content-Disposition"]
    kept = answer.get_json()["data"]
    assert [each["number"] for each in kept] == [2, 1]
    assert kept[0]["hash"] in page.text
    assert "entry_hashes" not in kept[0]


def test_what_the_filters_leave_is_downloaded(client: Client, owner: Browser) -> None:
    make_entry(client, "project.archived", actor=ROBIN)
    made = make_entry(client, "project.restored", actor=ROBIN)
    page = owner.get(f"{PATH}?actor_id={ROBIN.id}&action=project.restored")
    form = page.form(f"{PATH}/export").fields
    for name, kind in (("csv", "text/csv"), ("ndjson", "application/x-ndjson")):
        answer = owner.send(f"{PATH}/export", **form | {"format": name}).response
        assert (answer.status_code, answer.mimetype) == (200, kind)
        assert f".{name}" in answer.headers["Content-Disposition"]
        text = answer.get_data(as_text=True)
        assert made in text
        assert "project.archived" not in text
        newest = audit_entries(client)[-1]
        assert newest["action"] == "audit_log.exported"
        assert newest["changes"]["actor_id"] == {"from": None, "to": ROBIN.id}
    assert "exported the audit log" in owner.get(PATH).text
    for wrong in ({"format": "pdf"}, {"format": "csv", "since": "yesterday"}):
        assert owner.send(f"{PATH}/export", **form | wrong).status == 400
