"""The audit log in all its states."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sqlalchemy import select

from app.audit.entries import write_entry
from app.audit.origin import Actor, Via, acting_as
from app.audit.targets import Target
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Account
from app.pages.audit_log.sentences import action_groups
from tests.browser.conftest import Visitor
from tests.browser.forest_scenes import create, settle
from tests.make.geometry import multi_square, square

Scene = tuple[str, Visitor]
_HOSTILE = ("<script>alert(1)</script>", "مشروع الغابة القديمة", "Unbroken" * 24)
_BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
_ACTORS = (
    (Actor("person", "user_01arz3ndektsv4rrffq69g5fav", "ana@hazelwoods.example"),
     Via(ip="203.0.113.7", user_agent=_BROWSER, request_id="req_01arz3ndektsv4rrffq69g5fav")),
    (Actor("api_key", "key_01arz3ndektsv4rrffq69g5fav", "Nightly export"),
     Via("cnp_live_…k3Qz", ip="2001:db8:85a3:8d3:1319:8a2e:370:7348", user_agent="curl/8.9.1")),
    (Actor("operator", None, "root"), Via(user_agent="account update")),
    (Actor("person", "user_01arz3ndektsv4rrffq69g5fav", "ana@hazelwoods.example"),
     Via(application={"id": "app_01arz3ndektsv4rrffq69g5fav", "label": "Field map"},
         ip="203.0.113.7", user_agent="okhttp/4.12")),
    (Actor("system", None, "Canopy"), Via()),
    (Actor("person", None, _HOSTILE[2]), Via(ip="203.0.113.7", user_agent=_HOSTILE[0])),
)  # fmt: skip


def audit_log(visitor: Visitor) -> Iterator[Scene]:
    """Yield each scene's name, and the visitor, who has an account."""
    slug = visitor.go("/accounts").locator("main li code").first.inner_text()
    path = _change_a_boundary(visitor)
    page = visitor.go(f"/audit-log?target_id={path.rpartition('/')[2]}")
    page.locator(".entry summary").first.click()
    page.locator(".difference img").first.evaluate("image => image.decode()")
    settle(visitor)
    yield "audit log of a project, boundary opened", visitor
    _fill(visitor, slug)
    visitor.go("/audit-log")
    settle(visitor)
    yield "audit log", visitor
    for each in page.locator(".entry summary").all():
        each.click()
    settle(visitor)
    yield "audit log, all opened", visitor
    visitor.go("/audit-log?action=project.deleted&until=2020-01-01T00:00:00Z")
    yield "audit log, nothing with these filters", visitor
    visitor.go("/audit-log?action=nothing&since=yesterday&actor_id=user_01arz3ndektsv4rrffq69g5fav")
    yield "audit log, wrong filters", visitor


def _change_a_boundary(visitor: Visitor) -> str:
    """Create a project and change it. Returns the path of its page."""
    path = create(visitor, name="Alder carr", geometry=json.dumps(square(11, 50, 0.05)))
    page = visitor.go(f"{path}/edit")
    page.locator(".as-text summary").click()
    changed = multi_square((11.01, 50.01), (11.06, 50.03), size=0.04)
    page.locator("#geometry").fill(json.dumps(changed))
    page.locator("#name").fill("Alder carr, north")
    page.locator("#save").click()
    page.wait_for_url("**/projects/proj_*")
    return visitor.path.removesuffix("?saved")


def _fill(visitor: Visitor, slug: str) -> None:
    """Write an entry of each action that the log of an account can have."""
    with visitor.instance.core.app_context(), transaction():
        account_id = db.session.scalars(select(Account.id).where(Account.slug == slug)).one()
        for place, action in enumerate(
            action for labels in action_groups().values() for action in labels
        ):
            actor, via = _ACTORS[place % len(_ACTORS)]
            label = (*_HOSTILE, "Hazel dell", actor.label)[place % 5]
            with acting_as(actor, via):
                write_entry(
                    action,
                    Target(action.partition(".")[0], None, label),
                    account_id=account_id,
                    changes=_changes(place),
                    refused=action.endswith("refused"),
                )


def _changes(place: int) -> dict[str, object] | None:
    return (
        {"name": {"from": _HOSTILE[0], "to": _HOSTILE[2]},
         "description": {"from": None, "to": "Beech and hornbeam on lime.\n" * 12},
         "metadata": {"from": {"owner": "Parish"}, "to": {"owner": "County", "rows": [1, 2]}}},
        {"permissions": {"from": None, "to": ["projects:read", "assets:write"]},
         "ip_allowlist": {"from": None, "to": ["203.0.113.0/24"]}},
        None,
        {"role": {"from": "viewer", "to": "admin"}},
        {"events": {"from": ["*"], "to": ["project.created", "asset.created"]},
         "enabled": {"from": True, "to": False}},
        {"role": {"from": "editor", "to": None},
         "key_01arz3ndektsv4rrffq69g5fav": {"from": ["projects:write"], "to": []}},
    )[place % 6]  # fmt: skip
