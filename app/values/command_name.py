"""The name by which people call Canopy's commands, for help and hints."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final

COMMAND: Final = "CANOPY_COMMAND"  # set by launchers to the name they were called by

_ROOT: Final = Path(__file__).resolve().parents[2]
_INSTALLED: Final = "canopy"  # [project.scripts] in pyproject.toml, and the Dockerfile


def canopy_command(arguments: str = "") -> str:
    """A command to type, such as ``bin/canopy account list``.

    In a command, it begins like the running one: ``bin/canopy``, ``canopy`` or
    ``python -m app.cli``. Elsewhere it begins with the installed ``canopy`` or, in a checkout,
    ``bin/canopy``.
    """
    return f"{os.environ.get(COMMAND) or _default_command()} {arguments}".strip()


def _default_command() -> str:
    called, installed = Path(sys.argv[0]), Path(sys.executable).with_name(_INSTALLED)
    if called.name == _INSTALLED:
        return _shorten_path(called)
    if not installed.is_file() and (_ROOT / "bin" / _INSTALLED).is_file():
        return f"bin/{_INSTALLED}"
    return _shorten_path(installed)


def _shorten_path(path: Path) -> str:
    """The name alone if the shell finds this program by it, else the path."""
    return _INSTALLED if shutil.which(_INSTALLED) == str(path) else str(path)


def has_scripts() -> bool:
    """True if ``bin/canopy`` and ``bin/serve`` exist; an image has neither."""
    return (_ROOT / "bin" / _INSTALLED).is_file()
