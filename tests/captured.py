"""Running a program, and what it printed."""

from __future__ import annotations

import subprocess
from typing import Any


def captured(command: Any, *, check: bool = False, **options: Any) -> Any:
    """Run a program as ``subprocess.run``. Its result has what it printed, as text."""
    return subprocess.run(command, capture_output=True, text=True, check=check, **options)


def piped(command: Any, **options: Any) -> subprocess.Popen[str]:
    """Start a program as ``subprocess.Popen``, and read what it prints as text."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, **options)
