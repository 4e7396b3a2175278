"""Running a program, and what it printed."""

from __future__ import annotations

import subprocess
from typing import Any


def captured(command: Any, *, check: bool = False, **options: Any) -> Any:
    """Run a program as ``subprocess.run``. Its result has what it printed, as text."""
    return subprocess.run(command, capture_output=True, text=True, check=check, **options)
