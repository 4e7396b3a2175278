"""An instance that a former release filled is whole after the migrations of today, and one more.

``python -m tests.upgrades.make COMMIT RELEASE`` makes what is compared with here.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from sqlalchemy import func, select

from app.db.extensions import db
from app.doctor.doctor import run_checks
from app.models import Delivery, Webhook
from app.values import clock
from tests.cli.conftest import runner
from tests.make import Browser, sign_in
from tests.make.browser import PASSWORD
from tests.make.oauth import BACK
from tests.outbound.receivers import Received, Receiver
from tests.people.second_factor.support import Factor, SoftPasskey, begin, give
from tests.people.second_factor.test_passkeys import use
from tests.upgrades.answers import (
    COUNTS,
    MISSING,
    Difference,
    differences,
    is_recorded,
    without_numbers,
)
from tests.upgrades.conftest import Upgraded
from tests.webhooks.job import deliver_due


class Meant(NamedTuple):
    """A difference that is meant. Path and field are regular expressions, without ids and places;
    ``is_right`` says whether the values are."""

    path: str
    field: str
    is_right: Callable[[Any, Any], bool]
    reason: str


def counted(number: int) -> Callable[[Any, Any], bool]:
    """Each question about counts is counted itself, and then and now as many were asked."""
    return lambda then, now: now == then + number


def came_later(then: Any, now: Any) -> bool:
    return bool(then == MISSING)


def without_countries(then: Any, now: Any) -> bool:
    """No longer ready, the counts of missing countries, or other findings that are the same but for
    proposals and the words on overlaps."""
    if isinstance(then, bool):
        return then and not now
    if isinstance(then, int) or isinstance(now, int):
        return MISSING in (then, now)
    others = [
        [
            {
                name: value
                for name, value in each.items()
                if name != "proposed" and (name, each["code"]) != ("message", "overlap")
            }
            for each in findings
            if each["code"] != "country_missing"
        ]
        for findings in (then, now)
    ]
    return others[0] == others[1]


MEANT: Final[dict[str, tuple[Meant, ...]]] = {
    "1.0": (
        Meant("/v1/account/usage", r"api_requests\.current", counted(2), "both are asked again"),
        Meant(
            "/v1/account/usage/requests",
            r"(by_credential\[\]\.)?(by_day\[\]\.)?requests",
            counted(2),
            "both are asked again",
        ),
        Meant(r"/v1/eudr(\?.*)?", "records|changes", came_later, "what a file has differently"),
        Meant(
            r"/v1/eudr(\?.*)?",
            "ready|(problem|warning)(s|_counts.country_missing)",
            without_countries,
            "a missing country is a problem, which proposes one; overlaps say what is rounded",
        ),
        Meant(
            r"/v1/imports([/?].*)?",
            r"(\[\]\.)?(encoding|points|names|letters|zone_letter|suggestions|external_id)"
            r"|hectares\.(account|limit)",
            came_later,
            "encodings, points beside areas, names and letters are choices; external ids are "
            "suggested and listed, and the plan's limit is told",
        ),
        Meant(r"/v1/projects/map\?.*", r"body\.bbox", came_later, "the box of all that matches"),
    ),
}
CHECKPOINTS: Final = "/v1/audit-log/checkpoints?per_page=100"


@pytest.mark.slow
def test_everything_is_answered_as_before(upgraded: Upgraded) -> None:
    meant = MEANT[upgraded.release]
    used, found = set(), []
    for difference in all_differences(upgraded):
        reasons = {each for each in meant if fits(each, difference)}
        used |= reasons
        found += [] if reasons else [difference]
    assert not found, "\n".join(map(str, found[:20]))
    assert used == set(meant)


def all_differences(upgraded: Upgraded) -> Iterator[Difference]:
    """Counts come first, as each request changes them, and last what is recorded in the log."""
    asked = [(path, name) for name, answers in upgraded.answers.items() for path in answers]
    asked.sort(key=lambda each: (each[0] not in COUNTS, is_recorded(each[0])))
    for path, name in asked:
        yield from differences(path, upgraded.answers[name][path], upgraded.get(name, path))


def fits(meant: Meant, found: Difference) -> bool:
    field = without_numbers(found.field).removeprefix("body.data").removeprefix(".")
    return (
        re.fullmatch(meant.path, without_numbers(found.path)) is not None
        and re.fullmatch(meant.field, field) is not None
        and meant.is_right(found.then, found.now)
    )


def test_the_doctor_finds_nothing(upgraded: Upgraded) -> None:
    """Among what it looks at are the counters, which it compares with the rows."""
    assert not [each for each in run_checks(upgraded.environ) if each.status == "problem"]


def test_the_audit_log_verifies(upgraded: Upgraded, tmp_path: Path) -> None:
    """With the checkpoints and the key that the former version gave, if it had them."""
    owner, options = upgraded.answers["owner"], []
    former = owner.get(CHECKPOINTS, {"body": {"data": []}})["body"]["data"]
    if former:
        kept = tmp_path / "checkpoints.json"
        kept.write_text(json.dumps(former))
        (key,) = owner["/v1/audit-log/keys"]["body"]["data"]
        options = ["--checkpoints", str(kept), "--key", key["public_key"]]
    command = ("audit", "verify", "--account", upgraded.kept["account"], "--json", *options)
    verified = runner(upgraded.app)(*command)
    assert verified.exit_code == 0, verified.output
    assert json.loads(verified.output)["checkpoints"] == len(former)


def test_each_boundary_is_in_the_history(upgraded: Upgraded) -> None:
    for project in upgraded.answers["owner"]["/v1/projects?per_page=100"]["body"]["data"]:
        path = f"/v1/projects/{project['id']}"
        boundaries = upgraded.get("owner", f"{path}/boundaries")["body"]["data"]
        if project["geometry"] is not None:
            present = upgraded.get("owner", f"{path}/boundaries/{boundaries[0]['id']}")["body"]
            assert present["data"]["geometry"] == project["geometry"]
            assert present["data"]["area_hectares"] == project["area_hectares"]


@pytest.mark.slow
def test_programs_get_in(upgraded: Upgraded) -> None:
    """API keys, service tokens, and an application with its tokens and its consent."""
    kept = upgraded.kept
    statuses = {name: upgraded.get(name, "/v1/projects")["status"] for name in kept["tokens"]}
    assert statuses == dict.fromkeys(kept["tokens"], 200) | {"elsewhere": 401}
    assert upgraded.with_token(kept["revoked"]["lost"]).get("/v1/projects").status_code == 401
    application = kept["application"]
    tokens = application["tokens"]
    for name in ("Former token", "Its successor"):
        caller = upgraded.with_token(tokens["access_token"])
        made = caller.post("/v1/projects", json={"name": name})
        assert made.status_code == 201, made.json
        form = {
            "client_id": application["id"],
            "client_secret": application["secret"],
            "grant_type": "refresh_token",
            "refresh_token": tokens["refresh_token"],
        }
        tokens = upgraded.app.test_client().post("/oauth/token", data=form).json
    browser = sign_in(upgraded.app, "editor@example.org")
    page = browser.get(f"/oauth/authorize?{application['query']}", follow=False)
    assert page.response.headers["Location"].startswith(f"{BACK}?code="), page.text


@pytest.mark.slow
def test_a_request_is_not_carried_out_twice(upgraded: Upgraded) -> None:
    """One that the former version carried out."""
    repeated = upgraded.kept["repeated"]
    headers = repeated["headers"] | upgraded.caller().authorization
    client = upgraded.app.test_client()
    response = client.post("/v1/projects", data=repeated["body"], headers=headers)
    assert response.status_code == 201, response.json
    assert response.json["data"] == repeated["data"]


@pytest.mark.slow
def test_people_get_in(upgraded: Upgraded) -> None:
    """By the session that they had, by their password, and by a second factor if they had one."""
    for email, person in upgraded.kept["people"].items():
        if cookies := person.get("cookies"):
            browser = Browser(upgraded.app)
            for name, value in cookies.items():
                browser.client.set_cookie(name, value)
            page = browser.get("/profile")
            assert (page.path, email in page.text) == ("/profile", True), page.text
        if "secret" in person:
            use_second_factors(upgraded, email, person)
        elif "password" in person:
            sign_in(upgraded.app, email, person["password"])


def use_second_factors(upgraded: Upgraded, email: str, person: dict[str, Any]) -> None:
    factor, passkey, kept = (
        Factor(base64.b64decode(person["secret"])), SoftPasskey(), person["passkey"],
    )  # fmt: skip
    passkey.id, passkey.count = bytes.fromhex(kept["id"]), kept["count"]
    passkey.key = load_pem_private_key(kept["key"].encode(), None)
    for second_step in (
        lambda browser: give(browser, "code", factor.code()),
        lambda browser: give(browser, "recovery_code", person["codes"][0]),
        lambda browser: use(browser, passkey),
    ):
        browser = begin(upgraded.app, email)
        second_step(browser)
        assert email in browser.get("/profile").text


def test_an_invitation_leads_in(upgraded: Upgraded) -> None:
    email, browser = "invited@example.org", Browser(upgraded.app)
    browser.get(upgraded.kept["people"][email]["invitation"])
    page = browser.submit(name="Ines Late", password=PASSWORD)
    assert page.status == 200, page.text
    members = upgraded.caller().get("/v1/account/members").json["data"]
    (member,) = (each for each in members if each["email"] == email)
    assert (member["name"], member["role"], member["joined_at"] is None) == (
        "Ines Late", "editor", False,
    )  # fmt: skip


def test_waiting_deliveries_arrive(upgraded: Upgraded) -> None:
    """With the id, the bytes and the secret of the former version, and those of new events too."""
    kept = upgraded.kept["webhooks"]
    with ExitStack() as stack, upgraded.app.app_context():
        receivers = {name: stack.enter_context(Receiver(upgraded.certificate)) for name in kept}
        for name, receiver in receivers.items():
            db.session.get_one(Webhook, kept[name]["id"]).url = receiver.url()
        db.session.commit()
        last_due = db.session.scalar(select(func.max(Delivery.due_at)))
        db.session.rollback()
        upgraded.move(last_due - clock.now() + timedelta(seconds=1))
        deliver_due(upgraded.app)
        waiting = {each["id"]: each["body"] for each in upgraded.kept["attempts"]}
        assert contents(receivers["broken"]) == waiting
        made = upgraded.caller().post("/v1/projects", json={"name": "Later"}).json["data"]
        deliver_due(upgraded.app)
    (received,) = receivers["good"].requests
    assert json.loads(received.body)["data"]["id"] == made["id"]
    for name in ("good", "broken"):
        for request in receivers[name].requests:
            assert is_signed(request, kept[name]["secret"])
    assert not receivers["disabled"].requests


def contents(receiver: Receiver) -> dict[str, str]:
    """The body of each delivery, by its id."""
    return {each.headers["webhook-id"]: each.body.decode() for each in receiver.requests}


def is_signed(request: Received, secret: str) -> bool:
    """As Standard Webhooks says; its library goes by the clock of the machine."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = ".".join(request.headers[name] for name in ("webhook-id", "webhook-timestamp"))
    digest = hmac.digest(key, signed.encode() + b"." + request.body, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}" in request.headers["webhook-signature"]
