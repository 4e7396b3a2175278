"""``python -m tests.node [MODULE …]``: install what the tests take from npm, then run a module.

A browser is among it, where the machine has none. What cannot be had is said in one line. With
CI=true, where no test may be skipped, this then ends with an exit code of 2.
"""

from __future__ import annotations

import os
import subprocess
import sys

from bin._third_party import SetupError
from tests.browser.chromium import NoBrowser, find
from tests.node import install


def prepare() -> None:
    """Install it, or say what is missing; the tests that need it are then skipped."""
    if not (missing := _missing()):
        return
    if os.environ.get("CI") == "true":
        sys.stderr.write(f"No test may be skipped here (CI=true), but {missing}.\n")
        sys.exit(2)
    sys.stderr.write(f"What needs it is skipped: {missing}.\n")
    os.environ["CANOPY_TEST_MISSING"] = missing


def _missing() -> str:
    try:
        install()
        find()
    except (SetupError, NoBrowser) as error:
        return str(error)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"the browser from npm cannot be unpacked ({error})"
    return ""


if __name__ == "__main__":
    prepare()
    if sys.argv[1:]:
        os.execv(sys.executable, [sys.executable, "-m", *sys.argv[1:]])
