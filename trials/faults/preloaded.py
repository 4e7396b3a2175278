"""Small libraries in C that stand between a process and the system, by LD_PRELOAD."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from trials.faults.trial_report import CannotCause


def compile_library(source: Path, folder: Path) -> Path:
    """The library of a source, made in a folder that the processes can read.

    Raises:
        CannotCause: this is not Linux, or there is no C compiler.
    """
    library, compiler = folder / f"{source.stem}.so", shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        raise CannotCause("it takes Linux and a C compiler, such as of the package gcc")
    command = [compiler, "-shared", "-fPIC", "-O2", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return library
