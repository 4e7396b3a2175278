"""Faults of the service itself: an upgrade host by host, and clocks that differ."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from flask_migrate import upgrade

from config import ROOT
from tests.db.later_version import folder_with_revisions
from trials.machines.topology import Machines

LASTS = 3.0
CLOCKS = {"web1": 600, "web2": -600, "worker1": -300, "worker2": 900}  # seconds ahead


def rolling_upgrade(at: Machines) -> None:
    later = _later_version(at.folder / "later")
    at.timeline.note("the schema is migrated to a revision on which this version runs", 0, 0)
    with at.app.app_context():
        upgrade(directory=str(later / "migrations"))
    time.sleep(LASTS)
    for process in at.web + at.workers:
        name = process.host.name
        at.timeline.note(f"{name} stops, and starts as the next version", 0, 0)
        for balancer in at.balancers if process.port else ():
            balancer.take_out(name)
        time.sleep(LASTS)  # what it still has is answered
        process.end()
        process.root = later
        process.begin()
        if process.port:
            process.wait()
        for balancer in at.balancers if process.port else ():
            balancer.take_in(name)
        time.sleep(LASTS)


def clocks_apart(at: Machines) -> None:
    shown = ", ".join(f"{name} {seconds:+}" for name, seconds in CLOCKS.items())
    at.timeline.note(f"clocks differ, in seconds: {shown}", 0, 0)
    time.sleep(4 * LASTS)


def _later_version(folder: Path) -> Path:
    """This version, and a revision of the schema that is still to come."""
    folder_with_revisions(folder, True)
    shutil.copytree(ROOT / "app", folder / "app", ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.glob("*.py"):
        shutil.copy(file, folder)
    return folder
