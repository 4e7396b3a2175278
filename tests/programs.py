"""Programs that tests run where they are there; without them, those tests are skipped.

For the header of a run. Only looks for files, as to ask each program for its version takes seconds.
"""

from __future__ import annotations

import os
import shutil
from typing import Final

from tests import node
from tests.deploy.programs import find_installed

# On PATH, beside this Python, or unpacked from Debian's packages by an earlier run.
NAMES: Final = (
    "7z", "bsdtar", "caddy", "cc", "curl", "docker", "docker-compose", "firefox", "firefox-esr",
    "go", "haproxy", "java", "nginx", "openssl", "pgbouncer", "php", "promtool", "rackup",
    "soffice", "systemd-analyze", "unzip", "uv",
)  # fmt: skip


def find_programs() -> dict[str, str]:
    """Where each is, by its name; empty if it is not there. Takes some milliseconds."""
    found = {name: program.path if (program := find_installed(name)) else "" for name in NAMES}
    return found | {
        "Chromium": _chromium(),
        "packages from npm": str(node.modules()) if node.is_installed() else "",
    }


def describe_programs() -> list[str]:
    """Two lines for people: what was found, and what was not, so that tests are skipped."""
    found = find_programs()
    there = ", ".join(name for name, path in found.items() if path)
    missing = ", ".join(name for name, path in found.items() if not path)
    return [f"programs: {there or 'none'}", f"not found: {missing or 'none'}"]


def _chromium() -> str:
    """As tests.browser.chromium chooses it, without unpacking or starting it."""
    named = os.environ.get("CANOPY_TEST_CHROMIUM", "")
    own = named or shutil.which("chromium") or shutil.which("chromium-browser") or ""
    if own and named != "npm":
        return own
    return str(node.modules() / "@sparticuz" / "chromium") if node.is_installed() else ""
