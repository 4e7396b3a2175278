"""Clients that tools of others make from the OpenAPI description, and what judges say of it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.captured import captured
from tests.node import NODE, modules

SECONDS: Final = 120
# Redocly's command would ask the network for a newer one of itself, and report that it ran.
_QUIET: Final = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}


def run(folder: Path, *command: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """A command in a folder, with its output."""
    path = os.environ["PATH"]
    return captured(
        [str(part) for part in command],
        cwd=folder,
        env={"PATH": path, "HOME": str(folder), **_QUIET, **environ},
        timeout=SECONDS,
    )


def run_node(
    folder: Path, program: str, *arguments: str, **environ: str
) -> subprocess.CompletedProcess[str]:
    """A program of a package from npm, or a file of the folder, which finds these packages."""
    if not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(modules())
    return run(folder, NODE, program, *arguments, **environ)


def printed(done: subprocess.CompletedProcess[str]) -> Mapping[str, Any]:
    """The JSON object that a program printed, and nothing besides."""
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found
