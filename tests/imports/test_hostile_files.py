"""Files that were made to do harm are refused clearly, or are harmless."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from flask import Flask

from tests.imports.hostile_files.archives import ARCHIVES
from tests.imports.hostile_files.binaries import BINARIES
from tests.imports.hostile_files.kinds import SECRET, Bait, Makers
from tests.imports.hostile_files.texts import TEXTS
from tests.imports.making import features_of, read, upload, work
from tests.make import make_account

SMALL: Final = [each for each in (*ARCHIVES, *TEXTS, *BINARIES) if not each.is_large]


@pytest.mark.trial
@pytest.mark.timeout(600)
def test_each_ends_clearly(app: Flask, tmp_path: Path, subtests: pytest.Subtests) -> None:
    (tmp_path / "bait").mkdir()
    bait, client = Bait(tmp_path / "bait"), make_account(app, plan="enterprise")
    for number, file in enumerate(SMALL):
        with subtests.test(file.name):
            folder = tmp_path / str(number)
            folder.mkdir()
            makers = Makers(folder, bait, app.config["SETTINGS"].max_import_bytes)
            response = upload(client, file.make(makers), file.filename)
            if file.message is None:
                assert 400 <= response.status_code < 500
                continue
            assert response.status_code == 202
            work(client)
            record = read(client, response.json["data"]["id"])
            assert record["status"] == "failed" if file.message else record["status"] != "reading"
            assert (file.message or "") in (record["message"] or "")
            assert "ended unexpectedly" not in (record["message"] or "")
            assert SECRET not in repr([record, features_of(client, record)])
            client.post(f"/v1/imports/{record['id']}/cancel")
            assert bait.faults() == []
    bait.close()
