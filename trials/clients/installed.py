"""Programs of the machine: QGIS and LibreOffice Calc, such as Debian's.

``QGIS_PYTHON`` names another Python that has QGIS, such as a script that runs it in a chroot.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import requests

from tests.imports.making import counts, uploaded
from tests.make import make_account, make_asset, make_project, point, square
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

_TEXTS: Final = (
    "Der “Süd”-Wald; \"Ост\", 森林", "two\nlines", "שורה\r\nשנייה", "=1+1", "x;=1+1", "-5", "'007",
    "007", "1.10", "1e5", "1234567890123456789", "2026-01-02", "1/2", "12:30", "true", "", None,
)  # fmt: skip
# Options of Calc's text filter: comma, quote, UTF-8, first row, columns by their content, language,
# "Format quoted field as text" and not "Detect special numbers". Then what to save.
_OPENED: Final = "CSV:44,34,76,1,,0,true,false"
_SAVED: Final = {"csv": "csv:Text - txt - csv (StarCalc):44,34,76,1", "xlsx": "xlsx"}


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


def has_calc() -> bool:
    return shutil.which("soffice") is not None


def check_calc(layer: Layer) -> str:
    """Calc opens exports as CSV and saves them as CSV, also by way of a workbook: the cells are the
    same, and an import of them changes nothing."""
    client = make_account(layer.server.client.app)
    posts = make_project(client, name="Posts")
    for number, text in enumerate(_TEXTS):
        fields: dict[str, Any] = {"external_id": f"12345678901234567{number:02}"}
        fields["metadata"] = {"text": text, "share": number + 0.5, "large": 10**14 + number}
        make_project(client, geometry=square(number / 2), **fields)
        make_asset(client, posts["id"], location=point(number / 2), **fields)
    cells = 0
    for kind, form in {"projects": {}, "assets": {"project_id": posts["id"]}}.items():
        exported = layer.folder / f"{kind}.csv"
        exported.write_bytes(client.get(f"/v1/exports/{kind}?format=csv").get_data())
        rows = _rows(exported)
        for through in (["csv"], ["xlsx", "csv"]):
            saved = exported
            for ending in through:
                saved = _saved_by_calc(saved, ending, layer.folder / f"by-calc-{through[0]}")
            assert _rows(saved) == rows, saved.read_text()
            record = uploaded(client, saved.read_bytes(), saved.name, kind=kind, **form)
            assert counts(record) == (0, 0, len(rows) - 1, 0), record
            cells += sum(map(len, rows))
    return f"Calc: {cells:,} cells opened and saved as CSV and XLSX, and imported without a change"


def _rows(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return [[cell.replace("\r\n", "\n") for cell in row] for row in csv.reader(file)]


def _saved_by_calc(source: Path, ending: str, folder: Path) -> Path:
    """A copy of a file in another format, in a folder."""
    command = ["soffice", f"-env:UserInstallation={folder.as_uri()}/profile", "--headless"]
    command += [f"--infilter={_OPENED}"] if source.suffix == ".csv" else []
    command += ["--convert-to", _SAVED[ending], "--outdir", str(folder), str(source)]
    _run(command, {})
    return folder / f"{source.stem}.{ending}"


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
