"""Reading a file of settings that systemd reads too, as ``EnvironmentFile=``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

DEFAULT_FILE: Final = Path("/etc/canopy/canopy.env")  # that of the units
SETTINGS_FILE: Final = "canopy.settings"  # where a click context has the one that was named

# Quoted parts, which may span lines, then text up to the end of the line, in which quotes are
# ordinary characters. A backslash takes the next character, also the end of a line.
_ASSIGNMENT: Final = re.compile(
    r"""^[ \t]*(?P<name>[A-Za-z_]\w*)[ \t]*="""
    r"""(?P<quoted>(?:[ \t]*(?:'[^']*'|"(?:\\.|[^"\\])*"))*)[ \t]*"""
    r"""(?P<plain>(?:\\.|[^\\\n])*)$""",
    re.ASCII | re.DOTALL | re.MULTILINE,
)
_PART: Final = re.compile(r"""'([^']*)'|"((?:\\.|[^"\\])*)\"""", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_QUOTED_ESCAPE: Final = re.compile(r"\\([\n\"\\`$])")


def parse_environment_file(text: str) -> dict[str, str]:
    """The variables that a file sets, by the rules of systemd: no ``$`` is replaced, a ``#`` begins
    a comment only at the beginning of a line, and other lines without ``=`` are ignored."""
    return {
        found["name"]: _unquoted(found["quoted"]) + _unescaped(found["plain"].rstrip(), _ESCAPE)
        for found in _ASSIGNMENT.finditer(text)
    }


def _unquoted(text: str) -> str:
    return "".join(
        part[1] if part[1] is not None else _unescaped(part[2], _QUOTED_ESCAPE)
        for part in _PART.finditer(text)
    )


def _unescaped(text: str, escape: re.Pattern[str]) -> str:
    return escape.sub(lambda found: found[1].replace("\n", ""), text)
