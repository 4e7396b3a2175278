"""Expensive requests in their short form; figures are for ``bin/trials faults -- heavy``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.site.fields import FormSchema
from tests.api.operations import bare_app, operations
from tests.geometry.sizes import largest
from tests.make import (
    Client,
    make_application,
    make_asset,
    make_member,
    make_project,
    make_webhook,
)
from tests.make.imports import make_import
from tests.oauth.support import browser_of
from trials.faults.heavy.bodies import bodies, web_examples, web_routes
from trials.faults.heavy.form_fields import FIELDS, FIELDS_OF
from trials.faults.heavy.forms import forms, page_rules
from trials.faults.heavy.heads import heads
from trials.faults.heavy.load import Cost, Others, Waits
from trials.faults.heavy.queries import is_left_out, routes
from trials.faults.heavy.reading import run
from trials.faults.heavy.trial import Measured, all_requests, instance, judge, measure_all
from trials.faults.trial_report import TrialReport

CHOSEN = ("= ones", "= marks", "= marks, multipart", ", gzip")
SHAPES = ("zigzag", "holes_beside_comb", "loops")
FEW = {"zigzag": 2_000}


# Of seconds; tests/processes/web_server/test_health_checks.py and tests/api/test_expensive.py see
# who waits.
@pytest.mark.trial
@pytest.mark.timeout(900)  # two minutes on a machine that has nothing else to do
def test_expensive_requests_hold_up_nobody(scratch: Path) -> None:
    folder = scratch / "heavy"
    folder.mkdir()
    sizes = {name: largest(name, 60_000) for name in SHAPES}
    with instance(folder) as server:
        every = all_requests(server.client, sizes)
        short = [each for each in every if each.name.endswith(CHOSEN) or "positions" in each.name]
        assert judge(measure_all(server, short, seconds=3)).wrong == []


@pytest.mark.trial
@pytest.mark.timeout(300)
def test_expensive_queries_end_in_time(scratch: Path, seed: int) -> None:
    folder = scratch / "queries"
    folder.mkdir()
    with instance(folder) as server:
        assert run(server, minutes=0.5, seed=seed, seconds=3).wrong == []


def test_every_route_that_is_read_is_covered(client: Client) -> None:
    sent = {path for path, _, _ in routes(client)}
    rules = [each for each in bare_app().url_map.iter_rules() if "GET" in (each.methods or ())]
    wanted = {each.rule for each in rules if "<" not in each.rule}
    assert {rule for rule in wanted if not is_left_out(rule)} <= sent
    assert any(path.startswith("/ogc/collections/assets/items") for path in sent)


def test_every_operation_and_route_is_covered(client: Client) -> None:
    assert set(web_routes()) == set(web_examples(client))
    every = [*bodies(client, FEW), *heads(client)]
    sent = {tuple(each.name.split()[:2]) for each in every}
    methods = ("GET", "POST", "PUT")  # PATCH takes what PUT takes
    wanted = {(each.method, each.rule) for each in operations() if each.method in methods}
    assert wanted <= sent


def test_every_boundary_is_covered(client: Client) -> None:
    shapes = {each.name.split()[1] for each in bodies(client, FEW) if "zigzag" in each.name}
    assert shapes == {"/v1/geometry/validate", "/v1/projects", "/v1/projects/<project_id>"}


@pytest.mark.slow
def test_every_form_is_covered(client: Client) -> None:
    sent = {each.name.split()[1] for each in forms(client)}
    assert sent == {*page_rules(), "/oauth/token", "/oauth/revoke", "/oauth/introspect"}


def test_every_field_of_a_form_is_covered(client: Client) -> None:
    """Those of schemas, and those that pages show."""
    names = {name for schema in _schemas(FormSchema) for name in schema._declared_fields}
    assert {"email", "new_password", "account_slug"} <= names
    browser = browser_of(client)
    project_id = make_project(client)["id"]
    asset = f"/assets/{project_id}/{make_asset(client, project_id)['id']}"
    project, imported = f"/projects/{project_id}", f"/imports/{make_import(client)}"
    application = f"/applications/{make_application(client).id}"
    member = f"/members/{make_member(client).id}"
    webhook = f"/webhooks/{make_webhook(client)['id']}"
    account = ("/members", "/profile", "/settings", application, member)
    webhooks = (webhook, f"{webhook}/edit", f"{webhook}/replay?only_failed=true")
    kinds = ("api-keys", "applications", "imports", "service-tokens", "webhooks")
    news = (f"/{kind}/new" for kind in kinds)
    forest = ("/assets", "/projects", project, f"{project}/edit", asset, f"{asset}/edit", imported)
    for path in (*account, *news, *forest, *webhooks):
        html = browser.get(path).response.get_data(as_text=True)
        for form in re.findall(r'<form[^>]* method="post".*?</form>', html, re.DOTALL):
            names |= set(re.findall(r' name="(\w+)"', form))
    assert {"geometry", "latitude", "ids", "looked_at", "kind"} <= names
    covered = {name for fields in (FIELDS, *FIELDS_OF.values()) for name in fields}
    assert names <= covered | {"csrf_token", "file"}


def _schemas(kind: type[FormSchema]) -> Iterator[type[FormSchema]]:
    for each in kind.__subclasses__():
        yield each
        yield from _schemas(each)


@pytest.mark.parametrize(
    ("cost", "waits", "status", "expected"),
    [
        (Cost("a", 200, 1.9, 3.0), 0.09, 503, ""),
        (Cost("a", 200, 2.1, 2.0), 0.09, 503, "a took 2.10 s of processor time"),
        (Cost("a", 500, 0.1, 0.1), 0.09, 503, "a was answered 500"),
        (Cost("a", 200, 0.1, 0.1), 0.11, 503, "/healthz (p99) beside the worst took 0.11 s"),
        (Cost("a", 200, 0.1, 0.1), 0.09, 502, "the worst were answered {502}"),
    ],
)
def test_what_misses_its_bound_is_reported(
    cost: Cost, waits: float, status: int, expected: str
) -> None:
    at_once = Waits([0.001] * 100)
    beside = {"the worst": (Others(Waits([waits] * 100), at_once, at_once), Counter({status: 1}))}
    made = judge(Measured([cost], Others(at_once, at_once, at_once), beside))
    found = "\n".join(made.wrong + made.late)
    assert found.startswith(expected)
    assert bool(found) is bool(expected)


def test_another_account_that_waits_too_long_is_reported() -> None:
    at_once, late, made = Waits([0.001] * 100), Waits([1.1] * 100), TrialReport()
    Others(late, at_once, late).judge(made, "beside the worst")
    expected = (
        "writes of another account (p99) beside the worst took 1.10 s, and 1.00 s are allowed"
    )
    assert made.late == [expected]
