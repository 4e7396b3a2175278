"""The scripts of the pages, tested by Node's own test runner, in one process of Node.

``page.mjs`` gives each test a page in jsdom, on which the scripts run as they are.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from config import ROOT
from tests.captured import captured
from tests.node import NODE, modules, skip

HERE: Final = Path(__file__).parent
STATIC: Final = ROOT / "app" / "site" / "static"
# A page of a test has globals of its own, so files need no process of their own.
OPTIONS: Final = (
    "--test", "--test-isolation=none", "--test-reporter=dot",
    "--experimental-vm-modules", "--no-warnings",
)  # fmt: skip


def test_the_scripts_of_the_pages() -> None:
    """By itself: ``.venv/bin/python -m pytest tests/javascript``."""
    if not (STATIC / "third_party" / "stamp").is_file():
        skip("bin/test installs the browser code of the pages")
    environ = {
        "PATH": os.defpath,
        "CANOPY_NODE_MODULES": str(modules()),
        "NODE_COMPILE_CACHE": str(modules().parent / "compiled"),  # jsdom is large
        "TZ": "America/New_York",  # neither that of a machine nor UTC
        "LC_ALL": "en_US.UTF-8",
    }
    files = sorted(str(path) for path in HERE.glob("*.test.mjs"))
    done = captured([str(NODE), *OPTIONS, *files], env=environ, cwd=HERE)
    assert done.returncode == 0, f"\n{done.stdout}{done.stderr}"
