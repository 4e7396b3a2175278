"""Run the suite on newer Pythons, each in an environment of its own.

python -m trials.pythons             3.13, which the image has, and the newest
python -m trials.pythons 3.12        another one

uv finds those that are installed, and downloads others where it may.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.architecture.sources import ROOT

VERSIONS: Final = ("3.13", "3.14")


def main() -> int:
    """Exit codes: 0 the suite passes on each, 1 it does not, or a Python cannot be had."""
    versions = sys.argv[1:] or list(VERSIONS)
    failed = [version for version in versions if not _passes(version)]
    if failed:
        sys.stdout.write(f"does not pass on: {', '.join(failed)}\n")
    return 1 if failed else 0


def _passes(version: str) -> bool:
    with tempfile.TemporaryDirectory(prefix=f"canopy-python-{version}-") as folder:
        environment = Path(folder) / "venv"
        uv = [sys.executable, "-m", "uv"]
        # Not the suite's own folder: its programs run as other users, too.
        Path(folder).chmod(0o755)
        if subprocess.run([*uv, "venv", "--python", version, str(environment)]).returncode:
            return False
        python = str(environment / "bin" / "python")
        install = [*uv, "pip", "install", "--quiet", "--require-hashes", "--python", python]
        if subprocess.run([*install, "-r", str(ROOT / "requirements-dev.txt")]).returncode:
            return False
        sys.stdout.write(f"\nPython {version}\n")
        sys.stdout.flush()
        suite = [python, "-m", "pytest", "-n", "2", "--dist", "loadgroup", "--slow", "tests"]
        variables = {"PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"}
        return subprocess.run(suite, cwd=ROOT, env=os.environ | variables).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
