"""Every operation of /v1 and /ogc says which permission it needs, or is listed as public."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Flask

from app.auth.guard import ANY_CREDENTIAL, OR
from app.policy.permissions import PERMISSIONS, PROFILE
from app.site.pages import PageBlueprint

PUBLIC = {
    "reference.openapi": "the description of the API is for everybody",
    "ogc.conformance": "QGIS asks without the key of the URL, and the answer has nothing private",
    "ogc.projects_queryables": "likewise",
    "ogc.assets_queryables": "likewise",
}


def undeclared(app: Flask) -> Iterator[str]:
    """Endpoints of /v1 and /ogc whose view names no permission of the policy."""
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith(("/v1", "/ogc")) and rule.endpoint not in PUBLIC:
            needs = getattr(app.view_functions[rule.endpoint], "permission", None)
            known = {ANY_CREDENTIAL, PROFILE, *PERMISSIONS}
            if needs is None or not known.issuperset(needs.split(OR)):
                yield rule.endpoint


def test_every_operation_declares_its_permission(app: Flask) -> None:
    assert list(undeclared(app)) == []


def test_public_routes_exist(app: Flask) -> None:
    assert set(PUBLIC) <= set(app.view_functions)


def test_a_view_without_a_permission_is_seen() -> None:
    fake = Flask("fake")
    fake.add_url_rule("/v1/bees", "bees", lambda: "")
    assert list(undeclared(fake)) == ["bees"]


def test_a_permission_that_the_policy_does_not_have_is_seen() -> None:
    def view() -> str:
        return ""

    view.permission = "bees:read"  # type: ignore[attr-defined]
    fake = Flask("fake")
    fake.add_url_rule("/v1/bees", "bees", view)
    assert list(undeclared(fake)) == ["bees"]


# Where programs post, with a token or a signature. No cookie opens anything there but the chat,
# which looks at the origin itself, and what can be read below /ogc.
OF_PROGRAMS = ("/v1/", "/api/", "/ogc/", "/oauth/token", "/oauth/revoke", "/oauth/introspect")


def unprotected(app: Flask) -> Iterator[str]:
    """Rules that take a post from a browser, outside the blueprints that refuse forged ones."""
    for rule in app.url_map.iter_rules():
        blueprint = app.blueprints.get(rule.endpoint.partition(".")[0])
        is_safe = isinstance(blueprint, PageBlueprint) or rule.rule.startswith(OF_PROGRAMS)
        if not is_safe and (rule.methods or set()) & {"POST", "PUT", "PATCH", "DELETE"}:
            yield rule.rule


def test_every_post_of_a_page_is_protected(app: Flask) -> None:
    assert list(unprotected(app)) == []


def test_a_post_without_protection_is_seen() -> None:
    fake = Flask("fake")
    fake.add_url_rule("/bees", "bees", lambda: "", methods=["POST"])
    assert list(unprotected(fake)) == ["/bees"]
