"""The name by which people call Canopy's commands, for help and hints."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final

COMMAND: Final = "CANOPY_COMMAND"  # what the command was called by, if it says so

_ROOT: Final = Path(__file__).resolve().parents[2]
_INSTALLED: Final = "canopy"  # [project.scripts] in pyproject.toml, and the Dockerfile


def canopy_command(arguments: str = "") -> str:
    """A command as one types it here, such as ``bin/canopy account list``.

    In a command, it begins as the command did: ``bin/canopy``, ``canopy`` or ``python -m app.cli``.
    In other processes, it begins with the installed ``canopy`` or, in a checkout, ``bin/canopy``.
    """
    return f"{os.environ.get(COMMAND) or _found()} {arguments}".strip()


def _found() -> str:
    called, installed = Path(sys.argv[0]), Path(sys.executable).with_name(_INSTALLED)
    if called.name == _INSTALLED:
        return _shortened(called)
    if not installed.is_file() and (_ROOT / "bin" / _INSTALLED).is_file():
        return f"bin/{_INSTALLED}"
    return _shortened(installed)


def _shortened(path: Path) -> str:
    """A name that is enough, as the shell finds it."""
    return _INSTALLED if shutil.which(_INSTALLED) == str(path) else str(path)


def has_scripts() -> bool:
    """Whether ``bin/canopy`` and ``bin/serve`` are there; an image has neither."""
    return (_ROOT / "bin" / _INSTALLED).is_file()
