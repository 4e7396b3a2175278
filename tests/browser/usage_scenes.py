"""The pages of an account that show what it uses, in all their states."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from sqlalchemy import select, update

from app.account.credentials.service import create_credential
from app.account.service import set_plan
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Account, AccountUsage, CredentialRequest, RequestCount
from app.values import clock
from tests.browser.conftest import Visitor

Scene = tuple[str, Visitor]
_HOSTILE = ("<script>alert(1)</script>", "مشروع الغابة القديمة", "Unbroken" * 24)
_KEYS = 100
_USED = 70  # of them
_DAYS = 40


def usage(visitor: Visitor) -> Iterator[Scene]:
    """Yield each scene's name, and the visitor, whose account has made few requests or none."""
    visitor.go("/usage")
    yield "usage, nothing yet", visitor
    slug = visitor.go("/accounts").locator("main li code").first.inner_text()
    chosen = fill(visitor, slug)
    page = visitor.go("/usage?days=90")
    yield "usage, near and over limits", visitor
    page.locator("#unused summary").click()
    page.locator("#per-day-title ~ details summary").click()
    yield "usage, all open", visitor
    visitor.go(f"/usage?credential={chosen}")
    yield "usage of one key", visitor


def fill(visitor: Visitor, slug: str) -> str:
    """Give an account many keys that made requests, and usage beyond its limits. Returns the id of
    the key with the worst name."""
    with visitor.instance.core.app_context(), transaction():
        account_id = db.session.scalars(select(Account.id).where(Account.slug == slug)).one()
        ids = [_key(account_id, number) for number in range(_KEYS)]
        days = [clock.day_of(clock.now() - timedelta(days=ago)) for ago in range(1, _DAYS)]
        for day in days:
            requests = {key: 10 * (_USED - place) for place, key in enumerate(ids[:_USED])}
            db.session.add_all(
                CredentialRequest(account_id=account_id, day=day, credential_id=key, requests=n)
                for key, n in requests.items()
            )
            total = sum(requests.values()) + 9
            db.session.add(RequestCount(account_id=account_id, day=day, requests=total))
        own = update(AccountUsage).where(AccountUsage.account_id == account_id)
        db.session.execute(own.values(area_m2=9_500_000, members=3))
        db.session.flush()
        set_plan(account_id, "free")
    return ids[2]


def _key(account_id: str, number: int) -> str:
    name = f"{_HOSTILE[number % len(_HOSTILE)]} {number}"
    made, _ = create_credential(
        account_id, kind="api_key", name=name, permissions=["projects:read"]
    )
    return made.id
