"""Static files, at addresses that change with their content, so that browsers keep them.

In ``/static/<version>/<name>``, the version is a hash of all files, so that modules in JavaScript
import each other by relative addresses. Set-up puts third-party files into ``third_party``; without
them, pages work without maps and say so.
"""

from __future__ import annotations

import hashlib
import os
from logging import getLogger
from pathlib import Path
from typing import Final

from flask import Blueprint, Flask, Response, current_app, send_from_directory

from app.gazetteer import has_towns
from config import ROOT

log = getLogger(__name__)
bp = Blueprint("static_files", __name__)

_FOLDER: Final = Path(__file__).parent / "static"
_STAMP: Final = _FOLDER / "third_party" / "stamp"  # written after all files
_MAP: Final = _FOLDER / "third_party" / "map"  # thousands of files in folders; its stamp tells them
_GUIDES: Final = ROOT / "app" / "reference" / "guides" / "made" / "stamp"
HOW_TO_MAKE: Final = f"Run: python3 {ROOT / 'bin' / '_third_party.py'}"
_VERSION: Final = "canopy_static_version"
_YEAR: Final = 365 * 24 * 3600


def init_app(app: Flask) -> None:
    """Serve the files, give templates ``static()``, and log what is missing."""
    app.extensions[_VERSION] = _files_version()
    app.register_blueprint(bp)
    app.jinja_env.globals["static"] = _static_path
    if missing := missing_files():
        log.warning("%s %s", missing, HOW_TO_MAKE)


def _static_path(name: str) -> str:
    """Return the address of a file, such as ``js/page.js``."""
    return f"/static/{current_app.extensions[_VERSION]}/{name}"


def has_third_party() -> bool:
    """True if the libraries and the data of maps are installed."""
    return _STAMP.is_file()


def missing_files() -> str:
    """Return a sentence about what set-up has not made; empty if nothing is missing."""
    missing = [] if has_third_party() else ["the browser code of the maps"]
    missing += [] if has_towns() else ["the towns that maps find"]
    missing += [] if _GUIDES.is_file() else ["the guides at /docs/guides"]
    return f"The pages lack {' and '.join(missing)}." if missing else ""


@bp.get("/static/<version>/<path:name>")
def static_file(version: str, name: str) -> Response:
    """A file, which is cached if the version is the current one."""
    response = send_from_directory(_FOLDER, name)
    if version == current_app.extensions[_VERSION]:
        response.cache_control.no_cache = None
        response.cache_control.public = True
        response.cache_control.max_age = _YEAR
        response.cache_control.immutable = True
    return response


def _files_version() -> str:
    """Return a hash of all files and their names."""
    digest, paths = hashlib.sha256(), []
    for folder, folders, names in os.walk(_FOLDER):
        paths += [Path(folder, name) for name in names]
        if Path(folder) == _MAP:
            folders.clear()
    for path in sorted(paths):
        content = hashlib.sha256(path.read_bytes()).digest()
        digest.update(str(path.relative_to(_FOLDER)).encode() + b"\0" + content)
    return digest.hexdigest()[:12]
