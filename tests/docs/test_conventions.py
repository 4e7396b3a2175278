"""What ``docs/api-conventions.md`` lists is what the service has."""

from __future__ import annotations

from app.http import cors
from app.policy.events import EVENTS
from app.policy.request_limits import PROJECT_STATUSES
from tests.architecture.documents import documents

PAGE = documents()["docs/api-conventions.md"]


def section(heading: str) -> str:
    found = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    assert found, heading
    return found


def test_pages_of_other_origins_may_use_what_is_listed() -> None:
    text = section("Methods, and calls from web pages")
    sent, _, read = text.partition("It may read")
    assert [name for name in cors._ACCEPTED.split(", ") if f"`{name}`" not in sent] == []
    exposed = [name for name in cors._EXPOSED.split(", ") if not name.startswith("X-RateLimit-")]
    assert [name for name in exposed if f"`{name}`" not in read] == []
    apis = [name for path in cors._PATHS if (name := path.strip("/")).isalnum()]
    assert "ogc" in apis
    assert [name for name in apis if f"`/{name}`" not in text] == []


def test_the_life_of_a_project_has_every_status_and_event() -> None:
    text = section("The life of a project")
    assert [status for status in PROJECT_STATUSES if f"`{status}`" not in text] == []
    names = {name for name in EVENTS if name.startswith("project.")}
    assert {name for name in names if f"`{name}`" not in text} == {"project.created"}
