"""Every page has no serious problem for axe-core, is valid HTML for html-validate, has no
horizontal overflow and no browser errors, and writes numbers and days as its reader does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.account_scenes import account_scenes
from tests.browser.conftest import DESKTOP, PHONE, Instance, Visitor
from tests.browser.connection_scenes import connection_scenes
from tests.browser.guide_scenes import guide_scenes
from tests.browser.operator_scenes import map_scenes, operator_scenes
from tests.browser.scenes import scenes
from tests.browser.second_factor_scenes import second_factor_scenes
from tests.browser.written import wrongly_written_on
from tests.captured import captured
from tests.node import NODE, modules

# For html-validate: what is wrong, not how it is written. It takes an empty time for valid.
RULES = {
    "root": True,
    "extends": ["html-validate:standard"],
    "elements": ["html5", {"time": {"textContent": "required"}}],
    "rules": dict.fromkeys(("text-content", "unique-landmark", "wcag/h63"), "error"),
}


@pytest.mark.trial
@pytest.mark.parametrize(
    "part",
    [
        *(scenes, account_scenes, connection_scenes, second_factor_scenes, operator_scenes),
        guide_scenes,
        map_scenes,
    ],
)
@pytest.mark.parametrize(
    ("scheme", "viewport", "locale"),
    [("light", DESKTOP, "de-DE"), ("dark", PHONE, "fr-FR")],
    ids=["light desktop", "dark phone"],
)
def test_every_page_is_accessible(
    chrome: Browser,
    instance: Instance,
    scheme: str,
    viewport: dict[str, int],
    locale: str,
    part: Callable[..., Iterator[tuple[str, Visitor]]],
) -> None:
    options = {"color_scheme": scheme, "viewport": viewport, "locale": locale}
    seen, faults = faults_of(part(chrome, instance, **options))
    assert len(seen) >= {scenes: 25, map_scenes: 6}.get(part, 10)
    assert faults == []


def faults_of(part: Iterator[tuple[str, Visitor]]) -> tuple[dict[str, Page], list[str]]:
    """The pages of all scenes by their names, and what is wrong with them."""
    axe = (modules() / "axe-core" / "axe.min.js").read_text()
    faults: list[str] = []
    seen: dict[str, Page] = {}
    written: dict[str, str] = {}

    for name, visitor in part:
        page = visitor.page
        seen[name] = page
        page.wait_for_load_state()  # with its stylesheet
        written[name] = page.content()
        page.evaluate("scrollTo(0, 0)")  # else the top of the page covers something
        page.evaluate(axe)
        result: Any = page.evaluate("axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', "
                                    "'wcag22aa', 'best-practice']})")  # fmt: skip
        faults += [
            f"{name}: {found['id']}: {found['help']}: {found['nodes'][0]['html']}"
            for found in result["violations"]
        ]
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        if wide:
            faults.append(f"{name}: wider than the screen")
        faults += [f"{name}: {each}" for each in wrongly_written_on(page)]
    return seen, faults + _invalid_html(written)


def _invalid_html(pages: dict[str, str]) -> list[str]:
    """What html-validate says of the HTML of pages, given by their names."""
    program = modules() / "html-validate" / "bin" / "html-validate.mjs"
    faults: list[str] = []
    with TemporaryDirectory() as folder:
        Path(folder, ".htmlvalidate.json").write_text(json.dumps(RULES))
        names = {f"{number}.html": name for number, name in enumerate(pages)}
        for file, name in names.items():
            Path(folder, file).write_text(pages[name])
        command = [NODE, program, "--formatter", "json", *names]
        done = captured(command, cwd=folder, timeout=120)
        for report in json.loads(done.stdout):
            name = names[Path(report["filePath"]).name]
            faults += [
                f"{name}: {each['ruleId']}: {each['message']}: {each['selector']}"
                for each in report["messages"]
            ]
    return faults
