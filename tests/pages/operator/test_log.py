"""The log of the instance, as a page and as a file."""

from __future__ import annotations

from app.audit.entries import write_entry
from app.audit.proof.checkpoint import FORMAT
from app.audit.targets import Target
from app.db.transactions import transaction
from app.policy.audit import INSTANCE
from app.values.strict_json import loads
from tests.make import Browser, Client
from tests.make.audit import audit_entries, make_entry, new_entries
from tests.pages.support import post

PATH = "/operator/log"


def enter(client: Client, action: str, target: Target) -> None:
    with client.app.app_context(), transaction():
        write_entry(action, target, account_id=INSTANCE)


def test_entries(client: Client, operator: Browser) -> None:
    enter(client, "instance.backed_up", Target("instance", None, "<i>Canopy</i>"))
    page = operator.get(PATH)
    assert "made a backup of <i>Canopy</i>" in page.text
    assert "<i>Canopy" not in page.response.get_data(as_text=True)
    assert "Made a backup" in page.text  # can be chosen


def test_entries_of_accounts_are_not_in_it(client: Client, operator: Browser) -> None:
    make_entry(client, "project.created", Target("project", None, "Hidden grove"))
    assert "Hidden grove" not in operator.get(PATH).text
    assert operator.get(f"{PATH}?target_id={client.account_id}").status == 200


def test_filters(client: Client, operator: Browser) -> None:
    enter(client, "instance.secret_key_rotated", Target("instance", None, "Canopy"))
    page = operator.get(f"{PATH}?action=instance.secret_key_rotated")
    assert "rotated the secret key of Canopy" in page.text
    assert PATH in page.links  # clears the filters
    page = operator.get(f"{PATH}?action=project.created&since=yesterday")
    assert "choose one from the list" in page.text
    assert "“From” is not a date with a time" in page.text
    assert "No entry matches" in operator.get(f"{PATH}?until=2020-01-01T00:00:00Z").text


def test_a_file(client: Client, operator: Browser) -> None:
    enter(client, "instance.backed_up", Target("instance", None, "Canopy"))
    with new_entries(client, INSTANCE) as found:
        response = post(operator, f"{PATH}/export", format="ndjson").response
        lines = response.get_data().splitlines()
    assert response.status_code == 200
    assert 'filename="instance-audit-log-' in response.headers["Content-Disposition"]
    head = loads(lines[0])["audit_log"]
    assert (head["format"], head["account_id"]) == (FORMAT, INSTANCE)
    assert "end" in loads(lines[-1])
    assert [each["action"] for each in found] == ["audit_log.exported"]
    assert found[0]["account_id"] == INSTANCE
    known = {each["id"] for each in audit_entries(client, INSTANCE)}
    assert {each["id"] for line in lines if "id" in (each := loads(line))} == known


def test_a_wrong_export(operator: Browser) -> None:
    for fields in [{}, {"format": "pdf"}, {"format": "csv", "since": "x"}]:
        assert post(operator, f"{PATH}/export", **fields).status == 400
