"""Fills an instance of any release through its API, its pages and its commands, as users would."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.make.browser import PASSWORD
from tests.make.geometry import multi_square, point, square
from tests.outbound.receivers import Received, Receiver, answering
from tests.upgrades.former import Caller, Former, wait
from tests.upgrades.people import join, let_application_act, secure, sign_up

OWNER = "olga@example.org"
UNDISTURBED = timedelta(seconds=180)  # in which answers are collected
BROKEN_GETS = ("project.updated", "asset.updated")  # few, as each is sent again and again
LONGEST_UNSEALED = 600.0  # seconds until entries of the audit log are sealed, at most
REPEATED = "a key that was used before the upgrade"
HOLES = {
    "type": "MultiPolygon",
    "coordinates": [
        [
            [[10.0, 50.0], [10.4, 50.0], [10.4, 50.4], [10.0, 50.4], [10.0, 50.0]],
            [[10.1, 50.1], [10.1, 50.2], [10.2, 50.2], [10.2, 50.1], [10.1, 50.1]],
            [[10.25, 50.25], [10.25, 50.3], [10.3, 50.3], [10.3, 50.25], [10.25, 50.25]],
        ],
        [[[11.0, 51.0], [11.123456789, 51.0], [11.1, 51.1], [11.0, 51.0]]],
    ],
}
METADATA = {
    "owner": "Forstamt Süd", "stems": 1234, "age": 87.5, "is_certified": True, "note": None,
    "species": ["Fagus sylvatica", "Abies alba"], "soil": {"ph": 5.25, "layers": [1, 2]},
    "木": "楠", "large": 9_007_199_254_740_991,
}  # fmt: skip
PROJECTS: tuple[dict[str, Any], ...] = (
    {"name": "Alder Creek", "geometry": square(), "description": "By the river.\nTwo lines."},
    {"name": "Wald am Großen Fluß — 森林 🌲", "geometry": HOLES},
    {"name": "Two islands", "geometry": multi_square((20.0, -5.0), (20.2, -5.0))},
    {"name": "Without a boundary", "description": None},
    {"name": "Draft with a boundary", "geometry": square(west=-121.0)},
    {"name": "Archived", "geometry": square(west=-120.0)},
    {"name": "Archived without a boundary"},
    {"name": "Archived and restored", "geometry": square(west=-119.0)},
    {"name": "Changed", "geometry": square(west=-118.0)},
    {"name": "Loses its boundary", "geometry": square(west=-117.0)},
    {"name": "Deleted", "geometry": square(west=-116.0)},
)
ASSETS: tuple[dict[str, Any], ...] = (
    {"name": "Tower", "type": "equipment", "location": point(10.05, 50.05)},
    {"name": "Wetterstation Süd ☂", "type": "monitoring_station", "status": "maintenance",
     "metadata": METADATA, "location": point(10.043210987, 50.01)},
    {"name": "Without a location", "type": "point_of_interest", "status": "inactive"},
)  # fmt: skip


@dataclass
class Kept:
    """What a test needs besides the database. Nothing of it protects anything."""

    tokens: dict[str, str] = field(default_factory=dict)  # API keys and service tokens, by name
    revoked: dict[str, str] = field(default_factory=dict)  # likewise of those that were revoked
    people: dict[str, dict[str, Any]] = field(default_factory=dict)  # by their address
    application: dict[str, Any] = field(default_factory=dict)
    webhooks: dict[str, dict[str, str]] = field(default_factory=dict)  # id and secret, by path
    attempts: list[dict[str, str]] = field(default_factory=list)  # that failed and are repeated
    repeated: dict[str, Any] = field(default_factory=dict)  # a request with an Idempotency-Key
    account: str = ""


class Receivers:
    """One receiver that accepts, and one that is out of order."""

    def __init__(self, certificate: Path) -> None:
        self._stack = ExitStack()
        self.good = self._stack.enter_context(Receiver(certificate))
        self.broken = self._stack.enter_context(Receiver(certificate))
        self.broken.answer = answering(503)

    def __enter__(self) -> Receivers:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def fill(former: Former, receivers: Receivers) -> Kept:
    """Fill a running instance."""
    made = former.command(
        "account", "create", "--name", "Wälder & Söhne", "--owner-email", OWNER,
        "--owner-password", PASSWORD, "--plan", "enterprise",
    )  # fmt: skip
    kept = Kept(tokens={"owner": made["api_key"]}, account=made["account_id"])
    kept.people[OWNER] = {"password": PASSWORD}
    owner = Caller(former, made["api_key"])
    make_webhooks(owner, receivers, kept)
    for role in ("admin", "editor", "viewer"):
        join(former, owner, role, kept.people)
    end_memberships(former, owner, kept)
    make_projects(owner, kept)
    make_keys(former, owner, kept)
    let_application_act(former, kept)
    import_files(former, owner)
    sign_up(former, kept.people)
    former.command("operator", "add", OWNER)
    secure(former, kept.people)
    deliver(owner, kept)
    wait(lambda: owner.get("/v1/audit-log/checkpoints"), LONGEST_UNSEALED)
    owner.post("/v1/projects", {"name": "After the seal"})
    wait_for_retries(owner, receivers, kept)
    return kept


def make_webhooks(owner: Caller, receivers: Receivers, kept: Kept) -> None:
    for name, receiver, fields in (
        ("good", receivers.good, {"description": "All of it – auch Ümläute"}),
        ("broken", receivers.broken, {"events": list(BROKEN_GETS)}),
        ("disabled", receivers.good, {"enabled": False}),
        ("rotated", receivers.good, {"events": ["member.invited", "asset.deleted"]}),
    ):
        body = {"url": receiver.url(f"/{name}"), "events": ["*"]} | fields
        made = owner.post("/v1/webhooks", body)
        kept.webhooks[name] = {"id": made["id"], "secret": made["secret"]}
    path = f"/v1/webhooks/{kept.webhooks['rotated']['id']}/rotate-secret"
    kept.webhooks["rotated"]["secret"] = owner.post(path, {"overlap_hours": 24})["secret"]


def end_memberships(former: Former, owner: Caller, kept: Kept) -> None:
    """One who was removed, one whose role was changed, and one who is invited."""
    join(former, owner, "viewer", kept.people, name="removed")
    promoted = join(former, owner, "viewer", kept.people, name="promoted")
    owner.delete(f"/v1/account/members/{kept.people.pop('removed@example.org')['id']}")
    owner.put(f"/v1/account/members/{promoted}", {"role": "editor"})
    invited = "invited@example.org"
    owner.post("/v1/account/members/invite", {"email": invited, "role": "editor"})
    kept.people[invited] = {"invitation": former.mailed_link(invited)}


def make_projects(owner: Caller, kept: Kept) -> None:
    ids = {}
    for number, body in enumerate(PROJECTS):
        more = {"external_id": f"FID/{number} ä", "metadata": METADATA} if number % 2 else {}
        made = owner.post("/v1/projects", body | more)
        ids[body["name"]] = path = f"/v1/projects/{made['id']}"
        for asset in ASSETS if number < 3 else ():
            owner.post(f"{path}/assets", asset)
    for name in ("Without a boundary", "Draft with a boundary"):
        owner.put(ids[name], {"status": "draft"})
    for name in ("Archived", "Archived without a boundary", "Archived and restored", "Deleted"):
        owner.post(f"{ids[name]}/archive")
    owner.post(f"{ids['Archived and restored']}/restore")
    changed = {"name": "Changed twice", "geometry": square(west=-118.0, size=0.2)}
    for body in (changed, {"description": "Once more", "geometry": square(west=-118.0, size=0.3)}):
        owner.put(ids["Changed"], body)
    owner.put(ids["Loses its boundary"], {"geometry": None})
    owner.delete(ids["Deleted"])
    first = f"{ids['Alder Creek']}/assets"
    assets = owner.get(first)
    owner.put(f"{first}/{assets[0]['id']}", {"status": "inactive", "name": "Tower, out of use"})
    owner.delete(f"{first}/{assets[1]['id']}")
    body = json.dumps({"name": "Requested twice", "geometry": square(west=-115.0)})
    headers = {"Idempotency-Key": REPEATED, "Content-Type": "application/json"}
    made = owner.send("POST", "/v1/projects", data=body, headers=headers)
    kept.repeated = {"body": body, "headers": headers, "data": made}
    owner.put("/v1/account", {"name": "Wälder & Töchter"})


def make_keys(former: Former, owner: Caller, kept: Kept) -> None:
    """API keys and service tokens, wide and narrow."""
    account = ("--account", kept.account)
    project = owner.get("/v1/projects?search=alder")[0]["id"]
    for name, kind, *options in (
        ("map", "key", "--permission", "projects:read", "--permission", "assets:read"),
        ("field", "key", "--permission", "projects:write"),
        ("expiring", "key", "--permission", "projects:read", "--expires-in", "365"),
        ("limited", "key", "--permission", "projects:read", "--project", project),
        ("nightly", "service-token", "--permission", "admin"),
        ("elsewhere", "service-token", "--permission", "admin", "--allow", "10.0.0.0/8"),
        ("lost", "key", "--permission", "admin"),
    ):
        made = former.command(kind, "create", *account, "--name", name, *options)
        kept.tokens[name] = made.get("key") or made["token"]
        if name == "lost":
            former.command("key", "revoke", made["id"], "--yes")
    kept.revoked["lost"] = kept.tokens.pop("lost")
    for name in ("map", "nightly"):
        Caller(former, kept.tokens[name]).get("/v1/projects")


def import_files(former: Former, owner: Caller) -> None:
    """By the command; and, by the API, one each that is applied, undone, and ready."""
    file = former.instance / "districts.geojson"
    file.write_bytes(_collection("By the command"))
    former.command("import", str(file), "--account", owner.get("/v1/account")["slug"])
    for name in ("applied", "undone", "ready"):
        sent = {"file": (f"{name}.geojson", _collection(f"Import {name}"))}
        path = f"/v1/imports/{owner.send('POST', '/v1/imports', files=sent)['id']}"
        _wait_for(owner, path, "ready")
        if name != "ready":
            owner.post(f"{path}/apply")
            _wait_for(owner, path, "applied")
        if name == "undone":
            owner.post(f"{path}/undo")
            _wait_for(owner, path, "undone")


def _wait_for(owner: Caller, path: str, status: str) -> None:
    wait(lambda: owner.get(path)["status"] == status)


def _collection(name: str) -> bytes:
    features = [
        {
            "type": "Feature",
            "properties": {"name": f"{name} {number}", "stems": number * 1.5, "kind": "Fichte"},
            "geometry": square(west=-110.0 + number),
        }
        for number in range(3)
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


def deliver(owner: Caller, kept: Kept) -> None:
    """Deliver once more, and send a test."""
    path = f"/v1/webhooks/{kept.webhooks['good']['id']}"
    logs = owner.get(f"{path}/logs?per_page=100")
    owner.post(f"{path}/logs/{logs[-1]['id']}/redeliver")
    owner.post(f"{path}/test")


def wait_for_retries(owner: Caller, receivers: Receivers, kept: Kept) -> None:
    """Wait until each event was sent to the broken receiver, and none is due again while answers
    are collected."""
    path = f"/v1/webhooks/{kept.webhooks['broken']['id']}/logs?per_page=100"
    events = owner.get("/v1/events?per_page=100")
    due = {event["id"] for event in events if event["type"] in BROKEN_GETS}

    def all_wait() -> bool:
        soon = (datetime.now(UTC) + UNDISTURBED).isoformat()
        latest = {log["event_id"]: log["next_retry_at"] for log in reversed(owner.get(path))}
        return due == latest.keys() and all(next_at > soon for next_at in latest.values())

    wait(all_wait, LONGEST_UNSEALED)
    kept.attempts = [_attempt(request) for request in receivers.broken.requests]


def _attempt(request: Received) -> dict[str, str]:
    return {"id": request.headers["webhook-id"], "body": request.body.decode()}
