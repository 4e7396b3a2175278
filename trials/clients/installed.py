"""The QGIS of the machine, such as Debian's (python3-qgis, qgis-providers).

``QGIS_PYTHON`` names another Python that has QGIS, such as a script that runs it in a chroot.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

import requests

from trials.clients.service import BOX, Layer

SECONDS: Final = 300
EDITED: Final = ["project.deleted", "project.updated", "project.updated", "project.created"]
PYTHON: Final = os.environ.get("QGIS_PYTHON", "/usr/bin/python3")
_QGIS: Final = Path(__file__).with_name("qgis_program.py")
_FIELDS: Final = {
    "id": "String", "name": "String", "slug": "String", "external_id": "String",
    "description": "String", "area_hectares": "Real", "country": "String", "status": "String",
    "created_at": "DateTime", "updated_at": "DateTime", "forest": "String", "stand": "Integer",
    "height": "Real", "mixed": "String", "species": "String",
}  # fmt: skip


def has_qgis() -> bool:
    if not Path(PYTHON).exists():
        return False
    done = subprocess.run([PYTHON, "-c", "import qgis.core"], capture_output=True)
    return done.returncode == 0


def check_qgis(layer: Layer) -> str:
    """QGIS reads the layer with the key as a password, and in the address; with the first it edits
    it."""
    password = _qgis(layer, layer.url, "any", layer.key)
    address = _qgis(layer, f"{layer.url}?key={layer.reader.token}", "-", "-")
    edited = password.pop("edited", None)
    assert password == address
    assert abs(password.pop("hectares") - layer.hectares) < 1e-3
    assert password["crs"] in ("EPSG:4326", "OGC:CRS84")  # that of newer versions
    named = len([number for number in range(layer.count) if number < 10])
    assert password == {
        "valid": True,
        "count": layer.count,
        "reported": layer.count,
        "geometry": "MultiPolygon",
        "crs": password["crs"],
        "fields": _FIELDS,
        "in_box": layer.in_box,
        "named": int(layer.count > 42),
        "subset": named,
    }, password
    assert layer.key not in layer.log()
    assert str(layer.reader.token) not in layer.log()
    said = f"QGIS: {layer.count:,} features, by box and by attribute; no key is in the log"
    if edited is None:
        return f"{said}; this version cannot edit"
    assert edited == [True] * 4, edited
    assert _newest_events(layer, 4) == EDITED
    return f"{said}; a project created, its boundary changed, archived and deleted, with 4 events"


def _newest_events(layer: Layer, count: int) -> list[str]:
    """The types of so many events, the newest first."""
    url = f"{layer.url.removesuffix('/ogc')}/v1/events?per_page={count}"
    bearer = {"Authorization": f"Bearer {layer.key}"}
    return [each["type"] for each in requests.get(url, headers=bearer, timeout=20).json()["data"]]


def _qgis(layer: Layer, url: str, user: str, password: str) -> dict[str, Any]:
    command = [PYTHON, "-", url, "projects", user, password, *map(str, BOX)]
    environ = {"QT_QPA_PLATFORM": "offscreen", "HOME": str(layer.folder)}
    found: dict[str, Any] = json.loads(_run(command, environ, _QGIS.read_text()))
    return found


def _run(command: list[str], environ: dict[str, str], program: str = "") -> str:
    done = subprocess.run(
        command,
        env=os.environ | environ,
        input=program,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
