"""The archive of an account, downloaded from the settings and opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Owner
from tests.exports.account_export.archives import Archive

pytestmark = pytest.mark.slow


def test_the_archive_is_downloaded(forester: Owner, tmp_path: Path) -> None:
    page = forester.go("/settings")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download everything").click()
    assert download.value.suggested_filename.startswith(forester.slug)
    file = tmp_path / "archive.zip"
    download.value.save_as(file)
    archive = Archive(file.read_bytes())
    (member,) = archive.json("members.json")
    assert member["email"] == forester.email
    assert archive.json("manifest.json")["instance"] == forester.instance.url
    assert (forester.path, forester.heading) == ("/settings", "Settings")

    forester.go("/audit-log")
    entry = page.get_by_role("listitem").filter(has_text="exported all data of the account")
    expect(entry).to_be_visible()
