"""Parsing the file of settings, which systemd also reads as ``EnvironmentFile=``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

# In the units of systemd: the file of settings, and the checkout.
DEFAULT_FILE: Final = Path("/etc/canopy/canopy.env")
SERVICE_ROOT: Final = Path("/opt/canopy")
SETTINGS_FILE: Final = "canopy.settings"  # key of a named file in click's context

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
    """Return the variables of a file, by the rules of systemd.

    No ``$`` is replaced, a ``#`` begins a comment only at the start of a line, and other lines
    without ``=`` are ignored.
    """
    return {
        match["name"]: _unquote_value(match["quoted"])
        + _unescape_value(match["plain"].rstrip(), _ESCAPE)
        for match in _ASSIGNMENT.finditer(text)
    }


def names_of_file(environ: Mapping[str, str], path: Path = DEFAULT_FILE) -> Collection[str]:
    """Return the names in the machine's file of settings, if this process can read it, and has its
    values as environment variables. The units give the service a copy that it can read."""
    copies = environ.get("CREDENTIALS_DIRECTORY")  # of LoadCredential=
    path = Path(copies, path.name) if copies else path
    try:
        variables = parse_environment_file(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return ()
    return variables if variables.items() <= environ.items() else ()


def _unquote_value(text: str) -> str:
    return "".join(
        part[1] if part[1] is not None else _unescape_value(part[2], _QUOTED_ESCAPE)
        for part in _PART.finditer(text)
    )


def _unescape_value(text: str, escape: re.Pattern[str]) -> str:
    return escape.sub(lambda match: match[1].replace("\n", ""), text)
