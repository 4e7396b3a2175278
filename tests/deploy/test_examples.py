"""The examples of settings for containers and systemd."""

from __future__ import annotations

import pytest

from config import load_settings
from tests.deploy.files import assignments, text

EXAMPLES = ("deploy/compose.env.example", "deploy/systemd/canopy.env.example")


@pytest.mark.parametrize("path", EXAMPLES)
def test_an_example_shows_how_mails_are_sent(path: str, tmp_path: object) -> None:
    written = assignments(text(path))
    given = {name: written[name] for name in ("MAIL_URL", "MAIL_FROM")}
    settings = load_settings(given | {"INSTANCE_PATH": str(tmp_path)})
    assert settings.mail_url is not None
    assert settings.mail_from.address == "canopy@example.org"
