"""``python -m tests.node``: install what the tests take from npm, with a browser where the machine
has none. What cannot be had is said in one line, with an exit code of 1. ``bin/test`` runs it."""

from __future__ import annotations

import subprocess
import sys

from bin._npm import NotInstalled
from tests.browser.chromium import NoBrowser, find
from tests.node import install


def main() -> int:
    """Return the exit code."""
    try:
        install()
        find()
    except (NotInstalled, NoBrowser) as missing:
        sys.stdout.write(f"{missing}\n")
    except (OSError, subprocess.CalledProcessError) as error:
        sys.stdout.write(f"the browser from npm cannot be unpacked ({error})\n")
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
