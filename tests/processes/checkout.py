"""A copy of the commands in ``bin`` and of what they read, to run them in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.architecture.sources import ROOT
from tests.captured import piped
from tests.waiting import PATIENCE

# Stands in for uv, and makes environments as Python does: writes down what it was asked to install,
# and takes until the file UNTIL is there.
UV = """\
#!/bin/sh
[ "$1" = --version ] && exit 0
if [ "$1" = venv ]; then
  for folder; do :; done
  exec python3 -m venv --without-pip "$folder"
fi
echo "$@" >>"$ASKED"
while [ -n "$UNTIL" ] && [ ! -e "$UNTIL" ]; do sleep 0.05; done
exit "${FAILS:-0}"
"""

# Installs the library of the guides from the environment of the tests.
COPYING_UV = f"""\
#!/bin/sh
[ "$1" = --version ] && exit 0
echo "$@" >>"$ASKED"
[ -n "$FAILS" ] && exit "$FAILS"
while [ "$1" != --target ]; do shift; done
for name in markdown_it mdurl; do
  {shutil.which("cp")} -r "{sysconfig.get_path("purelib")}/$name" "$2" || exit 1
done
"""

SHOW = """\
import os, sys
print(sys.argv[1:], os.getcwd(), sys.prefix, sep="\\n")
"""


class Checkout:
    """A copy of what set-up touches, in a folder with a space, and a PATH of its own."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a clone"
        self.tools = folder / "tools"
        self.asked = folder / "asked"
        self.venv = self.root / ".venv"
        for name in ("bin", ".ci"):
            shutil.copytree(ROOT / name, self.root / name)
        self._let_npm_take(PATIENCE)
        (self.root / "requirements.txt").write_text("# nothing\n")
        (self.root / "requirements-dev.txt").write_text(_uv_of_the_lock_file())
        (self.root / "app").mkdir()
        (self.root / "app" / "__init__.py").touch()
        for name in ("cli.py", "serve.py"):
            (self.root / "app" / name).write_text(SHOW)
        self.tools.mkdir()
        for name in ("sh", "dirname", "readlink", "sleep"):
            (self.tools / name).symlink_to(str(shutil.which(name)))
        (self.tools / "python3").symlink_to(os.path.realpath(sys.executable))
        self.put_tool("uv", UV)

    def put_tool(self, name: str, text: str) -> None:
        path = self.tools / name
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def _let_npm_take(self, seconds: int) -> None:
        path = self.root / "bin" / "_third_party.py"
        text = path.read_text()
        assert "SECONDS_TO_ANSWER, SECONDS = 15," in text
        path.write_text(text.replace("= 15,", f"= {seconds},"))

    def put_browser_code_sources(self) -> None:
        """What bin/_third_party.py reads."""
        shutil.copytree(ROOT / "app/site/third_party", self.root / "app/site/third_party")

    def start(self, *command: str, cwd: Path | None = None, **environment: str) -> subprocess.Popen:
        return piped(
            [str(self.root / "bin" / command[0]), *command[1:]],
            cwd=cwd,
            env={"PATH": str(self.tools), "ASKED": str(self.asked), **environment},
            start_new_session=True,
        )

    def run(self, *command: str, cwd: Path | None = None, **environment: str) -> tuple[int, str]:
        """The exit code, and what was written to stdout, then to stderr."""
        process = self.start(*command, cwd=cwd, **environment)
        output, errors = process.communicate(timeout=2 * PATIENCE)
        return process.returncode, output + errors

    def installs(self) -> list[str]:
        return self.asked.read_text().splitlines() if self.asked.exists() else []


def finish(
    processes: Sequence[subprocess.Popen[str]], waiting: int, then: Callable[[], object]
) -> list[str]:
    """What each says on stderr until it ends. ``then`` is called once so many have said that they
    wait for another."""
    told = threading.Semaphore(0)

    def read(process: subprocess.Popen[str]) -> str:
        said = ""
        assert process.stderr is not None
        for line in process.stderr:
            said += line
            if "waiting for it" in line:
                told.release()
        process.communicate()
        return said

    with ThreadPoolExecutor(len(processes)) as pool:
        said = [pool.submit(read, process) for process in processes]
        try:
            assert all(told.acquire(timeout=PATIENCE) for _ in range(waiting))
        finally:
            then()
        return [each.result() for each in said]


def _uv_of_the_lock_file() -> str:
    lines = (ROOT / "requirements-dev.txt").read_text()
    return lines[lines.index("\nuv==") + 1 :].split("\n    # via")[0] + "\n"
