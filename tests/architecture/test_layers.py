"""The tour lists the packages as they are, an address leads to the package of its name, and
nothing goes around the contracts of import-linter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from inspect import unwrap

import pytest
from flask import Flask

from tests.architecture.layers import (
    LAYERS,
    higher_names,
    layer,
    package,
    private_names,
    requests_below_operations,
)
from tests.architecture.sources import ROOT, sources

_ROW = re.compile(r"^\| (`/.*?) \| `(app/[a-z_/]+)/` \|", re.M)


def listed() -> list[str]:
    """The packages in the order of the tour's list."""
    _, _, section = (ROOT / "docs/tour.md").read_text().partition("## The packages")
    return re.findall(r"^\| `(\w+)(?:/|\.py)` \|", section, re.M)


def exceptions() -> dict[str, str]:
    """The addresses of the tour's table, each with the package that is behind it."""
    rows = _ROW.findall((ROOT / "docs/tour.md").read_text())
    return {
        address.strip("`"): folder.replace("/", ".")
        for addresses, folder in rows
        for address in addresses.split(", ")
    }


def expected(address: str) -> str:
    """The package of an address whose name leads to it: ``/v1/x`` is ``app.x``, and a page at
    ``/x`` is ``app.pages.x``."""
    first, _, rest = address.removeprefix("/").replace("-", "_").partition("/")
    return f"app.{rest.partition('/')[0]}" if first == "v1" else f"app.pages.{first}"


def _begins(address: str, prefix: str) -> bool:
    return address == prefix or (prefix != "/" and address.startswith(f"{prefix}/"))


def elsewhere(app: Flask, table: dict[str, str]) -> Iterator[str]:
    """Addresses whose view is neither where their name leads nor where the table says."""
    for rule in app.url_map.iter_rules():
        view = unwrap(app.view_functions[rule.endpoint])
        module = (view.func if isinstance(view, partial) else view).__module__
        named = max((each for each in table if _begins(rule.rule, each)), key=len, default="")
        own = table[named] if named else expected(rule.rule)
        if not f"{module}.".startswith(f"{own}."):
            yield f"{rule.rule} is in {module}"


def test_an_address_leads_to_its_package(app: Flask) -> None:
    assert list(elsewhere(app, exceptions())) == []


def test_the_tour_lists_no_address_that_leads_to_its_package(app: Flask) -> None:
    table = exceptions()
    needless = [
        each
        for each in table
        if not list(elsewhere(app, {other: table[other] for other in table if other != each}))
    ]
    assert needless == []


def test_an_address_elsewhere_is_seen() -> None:
    fake = Flask("fake")
    fake.add_url_rule("/v1/bees", "bees", listed, methods=["GET"])
    assert f"/v1/bees is in {__name__}" in list(elsewhere(fake, {}))


def test_the_readme_lists_every_package() -> None:
    assert sorted(listed()) == sorted({package(module) for module in sources()} - {""})


def test_the_readme_lists_packages_from_top_to_bottom() -> None:
    places = [layer(f"app.{name}") for name in listed()]
    assert places == sorted(places)


def test_no_package_names_a_higher_one() -> None:
    assert list(higher_names(sources())) == []


def test_requests_are_known_above_only() -> None:
    assert list(requests_below_operations(sources())) == []


def test_private_names_stay_in_their_module() -> None:
    assert list(private_names(sources())) == []


@pytest.mark.parametrize("name", ["app.pages.bees.fly", "app.maintenance.jobs.prune"])
def test_a_name_of_a_higher_package_is_seen(name: str) -> None:
    fake = {"app.jobs.queue": f"JOB = '{name}'", "app.pages.bees": "", "app.maintenance.jobs": ""}
    assert list(higher_names(fake)) == [f"app.jobs.queue:1 names {name}"]


def test_a_package_may_name_itself() -> None:
    assert list(higher_names({"app.bees.service": "JOB = 'app.bees.jobs.fly'"})) == []


def test_a_low_module_that_knows_requests_is_seen() -> None:
    fake = {
        "app.db.bees": "from flask import Flask, request",
        "app.http.bees": "from flask import request",
        "app.site.bees": "from flask import request",
    }
    assert list(requests_below_operations(fake)) == ["app.db.bees imports flask.request"]


def test_a_private_name_elsewhere_is_seen() -> None:
    fake = {"app.bees.service": "from app.trees.listing import _trees", "app.trees.listing": ""}
    assert len(list(private_names(fake))) == 1


def test_the_layers_are_read() -> None:
    assert LAYERS[0] == ("serve",)
    assert LAYERS[-1] == ("policy",)
