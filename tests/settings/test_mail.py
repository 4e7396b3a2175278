"""``MAIL_URL`` and ``MAIL_FROM`` (docs/run.md, "Mail")."""

from __future__ import annotations

from pathlib import Path

import pytest

from config import Settings, SettingsError, load_settings
from tests.outbound.authority import Authority

WRONG_MAIL_URLS = [
    "mail.example.org",
    "http://mail.example.org",
    "smtp://",
    "smtp:///path",
    "smtp://mail.example.org/path",
    "smtp://mail.example.org#x",
    "smtp://mail.example.org:0",
    "smtp://mail.example.org:99999",
    "smtp://mail.example.org:smtp",
    "smtp://mail example.org",
    "smtp://mäil.example.org",
    "smtp://user@mail.example.org",
    "smtp://:hunter2@mail.example.org",
    "smtp://user:hunter2%0Aquit@mail.example.org",
    "smtp://user:hunter2%00@mail.example.org",
    "smtp://user:hunter2%FF@mail.example.org",
    "smtp://user:hunter2ä@mail.example.org",
    "smtp://user:hunter2#x@mail.example.org",
    "smtp://user:hunter2/x@mail.example.org",
    "smtp://user:hunter2@mail.example.org?starttls=never",
    "smtp://mail.example.org?starttls=maybe",
    "smtp://mail.example.org?starttls",
    "smtp://mail.example.org?starttls=never&starttls=required",
    "smtp://mail.example.org?verify=no",
    "smtp://mail.example.org?ca=/does/not/exist.pem",
    "smtps://mail.example.org?starttls=required",
]
WRONG_SENDERS = [
    "Canopy",
    "canopy@",
    "@example.org",
    "canopy@exa mple.org",
    "cänopy@example.org",
    "a@example.org, b@example.org",
    "Canopy <canopy@example.org",
    "Canopy <canopy@example.org> x",
    "Canopy\r\nBcc: b@example.org <canopy@example.org>",
    "Canopy\u2028x <canopy@example.org>",
    "=?utf-8?q?Jo=0D=0ABcc:_b@example.org?= <canopy@example.org>",
    f"{'x' * 65} <canopy@example.org>",
    f"{'x' * 65}@example.org",
]


def load(folder: Path, **environ: str) -> Settings:
    return load_settings({"INSTANCE_PATH": str(folder)} | environ)


def test_a_wrong_setting_is_named_and_its_password_not_shown(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name, values in {"MAIL_URL": WRONG_MAIL_URLS, "MAIL_FROM": WRONG_SENDERS}.items():
        for value in values:
            with subtests.test(f"{name}={value}"):
                with pytest.raises(SettingsError, match=name) as refusal:
                    load(tmp_path, **{name: value})
                assert "hunter2" not in str(refusal.value)
                assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("value", "server"),
    [
        ("smtp://localhost", ("localhost", 25, False, "offered", "", "")),
        ("smtp://[::1]:2525/", ("::1", 2525, False, "offered", "", "")),
        ("smtp://m.example?starttls=required", ("m.example", 25, False, "required", "", "")),
        ("smtp://m.example?starttls=never", ("m.example", 25, False, "never", "", "")),
        ("smtp://u:p@M.example", ("m.example", 587, False, "required", "u", "p")),
        ("smtp://u:p@127.0.0.1", ("127.0.0.1", 587, False, "offered", "u", "p")),
        ("smtp://u:p@127.0.0.1?starttls=never", ("127.0.0.1", 587, False, "never", "u", "p")),
        ("smtps://u%40x:p%2F%3A%20@m.example", ("m.example", 465, True, "offered", "u@x", "p/: ")),
        ("smtps://m.example:4650", ("m.example", 4650, True, "offered", "", "")),
    ],
)
def test_forms_of_the_address_of_a_mail_server(
    tmp_path: Path, value: str, server: tuple[object, ...]
) -> None:
    found = load(tmp_path, MAIL_URL=value).mail_url
    assert found is not None
    told = (found.host, found.port, found.is_tls, found.starttls, found.user, found.password)
    assert told == server


def test_the_certificates_of_a_mail_server(tmp_path: Path) -> None:
    path = Authority(tmp_path).ca_path
    value = f"smtps://mail.example.org?ca={path}"
    found = load(tmp_path, MAIL_URL=value).mail_url
    assert found is not None
    assert found.ca == path


@pytest.mark.parametrize(
    ("value", "sender"),
    [
        ("canopy@example.org", ("", "canopy@example.org")),
        ("<canopy@example.org>", ("", "canopy@example.org")),
        ("Canopy <canopy@example.org>", ("Canopy", "canopy@example.org")),
        ('"Forest, Inc." <no-reply@x.example>', ("Forest, Inc.", "no-reply@x.example")),
        ("Grüner Wald<canopy@localhost>", ("Grüner Wald", "canopy@localhost")),
    ],
)
def test_forms_of_the_sender(tmp_path: Path, value: str, sender: tuple[str, str]) -> None:
    settings = load(tmp_path, MAIL_FROM=value)
    assert settings.mail_from == sender


def test_the_password_for_mails_is_not_shown_with_the_settings(tmp_path: Path) -> None:
    assert "hunter2" not in repr(load(tmp_path, MAIL_URL="smtps://user:hunter2@mail.example.org"))
