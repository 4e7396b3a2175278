"""Pages have one format of numbers and dates: that of their reader."""

from __future__ import annotations

import re
from typing import Final

import pytest

from config import ROOT
from tests.make import Client, make_asset, make_project, square
from tests.make.geometry import point
from tests.pages.support import browser_of
from tests.site.written import LOCALES, written_in, wrongly_written


@pytest.mark.parametrize(
    "locales",
    [("de-DE", "hi-IN"), pytest.param(tuple(LOCALES), marks=pytest.mark.slow)],
    ids=["two", "all"],
)
def test_no_page_has_a_number_in_another_format(
    client: Client, subtests: pytest.Subtests, locales: tuple[str, ...]
) -> None:
    project = make_project(client, name="Oaks", geometry=square(10, 50, 0.4))["id"]
    make_project(client, name="Elms", geometry=square(10.2, 50.2, 0.4))
    asset = make_asset(client, project, location=point(10.1, 50.1))["id"]
    client.get("/v1/account")
    browser = browser_of(client)
    paths = (
        "/projects", f"/projects/{project}", f"/projects/{project}/edit", "/projects/new",
        "/assets", f"/assets/new?project_id={project}", f"/assets/{project}/{asset}",
        "/imports", "/imports/new", "/eudr",
        "/api-keys", "/service-tokens", "/members", "/audit-log", "/settings", "/accounts",
        "/usage", "/webhooks", "/welcome", "/applications", "/profile/second-factor",
    )  # fmt: skip
    for locale in locales:
        found = set[str]()
        for path in paths:
            page = browser.get(path, headers={"Accept-Language": locale})
            assert page.status == 200, path
            html = r"(?s)<(script|code|pre|textarea|svg)\b.*?</\1>|<[^>]*>"
            text = re.sub(html, " ", page.response.text)
            found.update(written_in(text))
            with subtests.test(f"{locale} {path}"):
                assert wrongly_written(text, locale) == []
        assert len(found) > 5


# Lines that make an address or the text of a field, and messages that templates give to `sentence`.
_OTHERS: Final = {
    "formats.js", "view.js", "asset_form.js", "profile.js",
    "choices.py", "words.py", "filling.py", "filters.py", "protection.py",
}  # fmt: skip


def test_pages_have_no_formats_of_their_own() -> None:
    """They use ``app/site/formats.py`` and ``js/formats.js``."""
    own = re.compile(
        r"toFixed|toLocale\w*String|toPrecision|Intl\.|\{[^{}\n]*:,[.\d]*[fg]?\}|format\(\s*\w+\s*,\s*\"[.,]"
    )
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for folder in ("pages", "site")
        for path in (ROOT / "app" / folder).rglob("*")
        if path.suffix in (".py", ".js", ".html")
        and "third_party" not in path.parts
        and path.name not in _OTHERS
        for match in own.finditer(path.read_text())
    ]
    assert found == []
