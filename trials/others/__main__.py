"""Compare what Canopy reads of some 620 files of public repositories with what GDAL reads.

The table beside this trial (files.jsonl) has each file with its repository, commit, path, sum, and
the verdict on it: fine, refused rightly, refused badly, or loses. The files belong to their owners
and are not in this repository. What differs from the table is listed; where a verdict is worse, the
exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import bindparam

from app.auth.tenant import columns_of
from app.db.connections import close_all
from app.db.migrations import upgrade
from app.db.queries import CompiledQuery
from app.factory import create_app
from app.models import ImportFeature
from app.processes import embedded_valkey
from config import load_settings
from tests.imports.making import features_of, read, upload, work
from tests.make import Client, make_account, make_project
from tests.make.apps import CHEAP_PASSWORDS
from trials.others import by_gdal
from trials.others.judging import judge
from trials.others.table import (
    VERDICTS,
    Entry,
    Imported,
    NotThere,
    fetched,
    read_table,
    write_table,
)
from trials.report import say

_PAGE: Final = 100
_MOST: Final = 1000  # features that are looked at one by one
_ENDS: Final = ("ready", "failed")
_GEOMETRIES: Final = CompiledQuery(
    columns_of(ImportFeature, ImportFeature.number, ImportFeature.geometry).where(
        ImportFeature.import_id == bindparam("import_id"), ImportFeature.number <= _MOST
    )
)


def main() -> int:
    """Exit codes: 0 nothing is worse than in the table, 1 something is, or a file is not there."""
    parser = argparse.ArgumentParser("bin/trials others --", description=__doc__)
    parser.add_argument("--files", type=Path, metavar="FOLDER", help="where they are, or are kept")
    parser.add_argument("--only", default="", metavar="WORD", help="files with this in their name")
    parser.add_argument("--write", action="store_true", help="put what was found into the table")
    options = parser.parse_args()
    table = read_table()
    found: dict[str, Entry] = {}
    failed = 0
    with (
        tempfile.TemporaryDirectory(prefix="canopy-files-") as downloads,
        tempfile.TemporaryDirectory(prefix="canopy-others-") as instance,
        _importer(Path(instance)) as importer,
    ):
        for entry in table:
            if options.only not in entry.name:
                continue
            try:
                now = _judged(entry, importer, options.files or Path(downloads))
            except NotThere as error:
                say(f"NOT THERE  {entry.name}: {error}")
                failed += 1
                continue
            found[entry.name] = now
            failed += _is_worse(entry, now)
    if options.write:
        write_table([found.get(entry.name, entry) for entry in table])
    counts = Counter(entry.verdict for entry in found.values())
    shown = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    say(f"\n{len(found)} files: {shown}; {failed} worse than in the table, or not there")
    return 1 if failed else 0


def _judged(entry: Entry, importer: Importer, files: Path) -> Entry:
    with tempfile.TemporaryDirectory(prefix="canopy-file-") as name:
        path = fetched(entry, files, Path(name))
        imported = importer.read(path, entry.kind)
        file_format, layer = (imported.record.get(key) for key in ("format", "layer"))
        verdict = judge(entry, imported, by_gdal.read_layer(path, file_format, layer))
    ending = Path(entry.path).suffix.lstrip(".").lower()
    return entry.judged(verdict.verdict, verdict.says, verdict.reason, file_format or ending)


def _is_worse(before: Entry, now: Entry) -> bool:
    """Whether a verdict is; prints what has changed."""
    is_worse = VERDICTS.index(now.verdict) > VERDICTS.index(before.verdict)
    if (before.verdict, before.says) != (now.verdict, now.says):
        say(f"{'WORSE' if is_worse else 'changed':10} {now.name}")
        say(f"           {before.verdict}: {before.says}")
        say(f"        →  {now.verdict}: {now.says} {now.reason}")
    return is_worse


class Importer:
    """An account into which files are imported."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._project_id = make_project(client)["id"]

    def read(self, path: Path, kind: str) -> Imported:
        """Read a file as an import does, and forget it."""
        form = {"kind": "assets", "project_id": self._project_id} if kind == "assets" else {}
        response = upload(self._client, path.read_bytes(), path.name, **form)
        if response.status_code != 202:
            return Imported(error=f"{response.status_code}: {response.json['error']['message']}")
        work(self._client)
        record = read(self._client, response.json["data"]["id"])
        assert record["status"] in _ENDS, record["status"]
        found = list(self._features(record)) if record["status"] == "ready" else []
        with self._client.app.app_context():
            ids = {"account_id": self._client.account_id, "import_id": record["id"]}
            rows = _GEOMETRIES.all(**ids) if found else []
        self._client.post(f"/v1/imports/{record['id']}/cancel")
        return Imported(record, found, {row.number: row.geometry for row in rows if row.geometry})

    def _features(self, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for page in range(1, 1 + _MOST // _PAGE):
            found = features_of(self._client, record, page=str(page), per_page=str(_PAGE))
            yield from found
            if len(found) < _PAGE:
                return


@contextmanager
def _importer(folder: Path) -> Iterator[Importer]:
    """An instance in a folder, which ends with it."""
    folder.chmod(0o755)
    valkey = embedded_valkey.ensure_valkey(folder / "valkey")
    environ = {"INSTANCE_PATH": str(folder / "instance"), "LOG_LEVEL": "error"}
    environ |= {"RATE_LIMIT_DISABLED": "true", "REDIS_URL": valkey} | CHEAP_PASSWORDS
    app = create_app(load_settings(environ))
    try:
        with app.app_context():
            upgrade()
        yield Importer(make_account(app))
    finally:
        with app.app_context():
            close_all()
        embedded_valkey.release_valkey(folder / "valkey")


if __name__ == "__main__":
    sys.exit(main())
