"""What Lighthouse says of the page of projects: performance, accessibility, best practices.

python -m bench.page_quality           exits with 1 if a score is below 95
python -m bench.page_quality --quick   only sees that it works

It measures the page of an account with 5,000 projects, as a desktop and as a slow phone sees it,
with an empty cache. Each score is of 100. Lighthouse comes from npm, pinned in bench/lighthouse.
``bin/test`` installs Node and the browser.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import sync_playwright

from bench.filling import fill, vacuum
from bench.map import irregular, simplify_all
from bench.pages import FULL, session_of
from bench.servers import own_worker_class, serve
from bin._third_party import NAMES, npm_in, npm_install
from tests.browser.chromium import BACKGROUND, find
from tests.node import NODE
from tests.ports import free_port

PROJECTS: Final = 5_000
LEAST: Final = 95
_LOCKED: Final = Path(__file__).parent / "lighthouse"
_KINDS: Final = {"desktop": ["--preset=desktop"], "phone": []}
_CATEGORIES: Final = "performance,accessibility,best-practices"


def measure(folder: Path, projects: int, kinds: Iterable[str]) -> dict[str, dict[str, int]]:
    """The scores by kind of device and category."""
    for name in NAMES:
        shutil.copy(_LOCKED / name, folder)
    npm_install(npm_in(NODE.parent.parent), folder)
    filled = fill(folder / "instance", "", accounts=1, size=projects, draw=irregular)
    simplify_all(filled, FULL)
    vacuum("")
    with serve("wsgi:app", filled.environ, worker_class=own_worker_class()) as server:
        address = f"http://127.0.0.1:{server.port}/projects"
        cookie = f"canopy_session={session_of(filled)}"
        return {kind: _scores(folder, address, cookie, _KINDS[kind]) for kind in kinds}


def _scores(folder: Path, address: str, cookie: str, more: list[str]) -> dict[str, int]:
    chromium, port, report = find(), free_port(), folder / "report.json"
    options = [*BACKGROUND, *chromium.options, f"--remote-debugging-port={port}"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.program, args=options, env=chromium.environment
        )
        command = [
            str(NODE), str(folder / "node_modules/lighthouse/cli/index.js"), address,
            f"--port={port}", "--quiet", "--output=json", f"--output-path={report}",
            f"--only-categories={_CATEGORIES}",
            f"--extra-headers={json.dumps({'Cookie': cookie})}", *more,
        ]  # fmt: skip
        subprocess.run(command, check=True, timeout=300)
        browser.close()
    found: dict[str, Any] = json.loads(report.read_text())["categories"]
    return {name: round(each["score"] * 100) for name, each in found.items()}


def main() -> None:
    """Print a table."""
    is_quick = sys.argv[1:] == ["--quick"]
    kinds = ["desktop"] if is_quick else list(_KINDS)
    with tempfile.TemporaryDirectory(prefix="canopy-bench-") as name:
        found = measure(Path(name), 100 if is_quick else PROJECTS, kinds)
    print("| Device | Performance | Accessibility | Best practices |\n|---|---:|---:|---:|")
    for kind, scores in found.items():
        print(f"| {kind} | {' | '.join(map(str, scores.values()))} |")
    worst = min(score for scores in found.values() for score in scores.values())
    if worst < LEAST and not is_quick:
        raise SystemExit(f"A score is below {LEAST}.")


if __name__ == "__main__":
    main()
