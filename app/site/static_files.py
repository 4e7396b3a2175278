"""Static files, at addresses that change with their content, so that browsers keep them.

``/static/<version>/<name>``: the version is a hash of all files, so that a module in JavaScript
can import another by its relative address. Third-party files are put into ``third_party`` at
set-up; where that could not be done, pages work without maps and say so.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from flask import Blueprint, Flask, Response, current_app, send_from_directory

bp = Blueprint("static_files", __name__)

_FOLDER: Final = Path(__file__).parent / "static"
_STAMP: Final = _FOLDER / "third_party" / "stamp"  # written last, when all files are there
_VERSION: Final = "canopy_static_version"
_YEAR: Final = 365 * 24 * 3600


def init_app(app: Flask) -> None:
    """Serve the files, and let templates name their addresses with ``static``."""
    app.extensions[_VERSION] = _version()
    app.register_blueprint(bp)
    app.jinja_env.globals["static"] = _static_path


def _static_path(name: str) -> str:
    """The address of a file, such as ``js/page.js``."""
    return f"/static/{current_app.extensions[_VERSION]}/{name}"


def has_third_party() -> bool:
    """Return whether the libraries and the data of maps are installed."""
    return _STAMP.is_file()


@bp.get("/static/<version>/<path:name>")
def static_file(version: str, name: str) -> Response:
    """A file. It is cached unless the version, as on pages of another release, is another one."""
    response = send_from_directory(_FOLDER, name)
    if version == current_app.extensions[_VERSION]:
        response.cache_control.no_cache = None
        response.cache_control.public = True
        response.cache_control.max_age = _YEAR
        response.cache_control.immutable = True
    return response


def _version() -> str:
    """A hash of all files and their names."""
    digest = hashlib.sha256()
    for path in sorted(_FOLDER.rglob("*")):
        if path.is_file():
            content = hashlib.sha256(path.read_bytes()).digest()
            digest.update(str(path.relative_to(_FOLDER)).encode() + b"\0" + content)
    return digest.hexdigest()[:12]
