"""The archive of an account, downloaded from the settings and opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Instance, Visitor, sign_up
from tests.exports.account_export.archives import Archive
from tests.make import new_email

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("scripts", [True, False])
def test_the_archive_is_downloaded(
    chrome: Browser, instance: Instance, tmp_path: Path, scripts: bool
) -> None:
    visitor = Visitor(chrome, instance, java_script_enabled=scripts)
    email = new_email()
    sign_up(visitor, email, "Hazel Woods")
    page = visitor.go("/settings")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download everything").click()
    assert download.value.suggested_filename.startswith("hazel-woods")
    file = tmp_path / "archive.zip"
    download.value.save_as(file)
    archive = Archive(file.read_bytes())
    (member,) = archive.json("members.json")
    assert member["email"] == email
    manifest = archive.json("manifest.json")
    assert manifest["instance"] == instance.url
    assert (page.url, visitor.heading) == (f"{instance.url}/settings", "Settings")

    visitor.go("/audit-log")
    entry = page.get_by_role("listitem").filter(has_text="exported all data of the account")
    expect(entry).to_be_visible()
    visitor.leave()
