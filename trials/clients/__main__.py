"""Read and edit a layer with programs that draw maps, and tables with LibreOffice.

Debian has them: apt-get install python3-qgis qgis-providers libreoffice-calc-nogui
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from app.processes import embedded_valkey
from trials.clients import installed, libraries
from trials.clients.service import Layer, layer
from trials.report import say

FEATURES: Final = 2_500
CHECKS: Final[dict[str, tuple[Callable[[], bool], Callable[[Layer], str]]]] = {
    "gdal": (lambda: True, libraries.check_gdal),
    "credentials": (lambda: True, libraries.check_gdal_credentials),
    "owslib": (lambda: True, libraries.check_owslib),
    "qgis": (installed.has_qgis, installed.check_qgis),
    "calc": (installed.has_calc, installed.check_calc),
}


def main() -> int:
    """Exit codes: 0 all is right, 1 something is wrong, or a program is not installed."""
    parser = argparse.ArgumentParser(
        "bin/trials gis-programs --",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--short", action="store_true", help="those from PyPI, a small layer")
    is_short = parser.parse_args().short
    wanted = [*CHECKS][:3] if is_short else [*CHECKS]
    with tempfile.TemporaryDirectory(prefix="canopy-clients-") as name:
        folder = Path(name)
        valkey = embedded_valkey.ensure_valkey(folder / "valkey")
        try:
            with layer(
                folder, 120 if is_short else FEATURES, REDIS_URL=valkey, LOG_LEVEL="info"
            ) as served:
                failed = [each for each in wanted if not _holds(each, served)]
        finally:
            embedded_valkey.release_valkey(folder / "valkey")
    return 1 if failed else 0


def _holds(name: str, served: Layer) -> bool:
    """Whether a program works; prints what it saw."""
    is_installed, check = CHECKS[name]
    if not is_installed():
        say(f"{name}: not installed")
        return False
    try:
        say(f"{name}: {check(served)}")
    except (AssertionError, OSError, ValueError) as error:
        say(f"{name}: WRONG: {type(error).__name__}: {error}")
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
