"""What scripts and the server write on one page is in one format: that of its reader."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select

from app.db.extensions import db
from app.models import Account, RequestCount
from app.values import clock
from app.values.formats import format_in
from tests.browser.conftest import Owner
from tests.browser.written import wrongly_written_on
from tests.make import square
from tests.site.written import LOCALES

pytestmark = pytest.mark.slow


def test_maps_and_charts_are_in_the_format_of_the_page(
    forester: Owner, subtests: pytest.Subtests
) -> None:
    forester.post("/v1/projects", name="East", geometry=square(120, 50, 1))
    forester.post("/v1/projects", name="Near it", geometry=square(-119.5, 40.5, 1))
    west = forester.post("/v1/projects", name="West", geometry=square(-120, 40, 1))
    path = f"/projects/{west['id']}"
    _count_requests(forester)
    page = forester.page
    for locale in LOCALES:
        form = format_in(locale)
        forester.context.set_extra_http_headers(
            {"X-Forwarded-For": forester.address, "Accept-Language": locale}
        )
        area = form.area(west["area_hectares"])
        for address, selector, text in (
            ("/projects", ".leaflet-control-scale-line", f"{form.group}000 km"),
            ("/projects", ".leaflet-tooltip", area),
            (path, "#overlaps", "%"),
            (f"{path}/edit", "#report", area),
            ("/usage", "main", form.number(12_345)),
        ):
            if forester.path != address:
                forester.go(address)
            if selector == ".leaflet-tooltip":
                page.locator(".project-list a", has_text="West").hover()
            page.locator(selector, has_text=text).first.wait_for()
            with subtests.test(f"{locale} {address} {selector}"):
                assert wrongly_written_on(page) == []


def _count_requests(owner: Owner) -> None:
    with owner.instance.core.app_context():
        account_id = db.session.scalars(select(Account.id).where(Account.slug == owner.slug)).one()
        yesterday = clock.day_of(clock.now() - timedelta(days=1))
        db.session.add(RequestCount(account_id=account_id, day=yesterday, requests=12_345))
        db.session.commit()
