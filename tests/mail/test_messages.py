"""The contents of mails, and protection against malicious names."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError

from app.mail.errors import Undeliverable
from app.mail.messages import SUBJECTS, Envelope, compose_message
from app.mail.smtp import _SEVEN_BIT
from app.people.second_factor.reporting import CHANGES
from app.settings.mail import sender
from config import Settings, load_settings
from tests.mail.message_values import LINK, VALUES, WORDS
from tests.make import link_in, text_of

MOMENT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ID = "mail_01k9zq3mgse2j7tbyw5c4r8nhd"
FORMS = [policy.SMTP, policy.SMTPUTF8, _SEVEN_BIT]

# Malicious names of people and accounts.
NASTY = [
    "Jo\r\nBcc: victim@example.org",
    "Jo\nBcc: victim@example.org",
    "Jo\r\n\r\nAnother body",
    "Jo\rBcc: victim@example.org",
    "Jo\x00\x0b\x0c\x1b[31mBcc: victim@example.org",
    "Jo\u2028Bcc: victim@example.org\u2029\x85",
    "=?utf-8?q?Jo=0D=0ABcc:_victim@example.org?=",
    "=?utf-8?b?Sm8NCkJjYzogdmljdGltQGV4YW1wbGUub3Jn?= Grün",
    "Grün =?utf-8?q?=0D=0ABcc:_victim@example.org?= " * 3,
    "= ?utf-8?q?Jo=0D=0ABcc:_x?=",
    "==??utf-8?q?Jo=0D=0ABcc:_x?=",
    "Ж" * 200,
    "a" * 200,
    "a b " * 50,
    "😀" * 100,
    '"Jo", <b@c> (x); \\',
    "\u202eoJ\u202c\u200b\ufeff",
    "{name} {link.__class__} {{ link }} {% raw %}",
    "   ",
    "%s%n",
]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({"INSTANCE_PATH": str(tmp_path)})


def composed(settings: Settings, kind: str, **values: Any) -> EmailMessage:
    envelope = Envelope(ID, "jo@example.org", MOMENT)
    return compose_message(envelope, kind, VALUES[kind] | values, settings)


def html_of(message: EmailMessage) -> str:
    part = message.get_body(("html",))
    assert part is not None
    return part.get_content()


@pytest.mark.parametrize("kind", VALUES)
def test_the_contents_of_each_kind(settings: Settings, kind: str) -> None:
    message = composed(settings, kind)
    text, html = text_of(message), html_of(message)
    for word in WORDS[kind]:
        assert word in " ".join(text.split())
        assert word.replace("&", "&amp;") in " ".join(html.split())
    if LINK in VALUES[kind].values():
        assert link_in(message) == LINK
        assert f'href="{LINK.replace("&", "&amp;")}"' in html
    assert "http://127.0.0.1:8000" in text
    assert max(map(len, text.splitlines())) < 100
    assert not re.search(r"<(?:img|script|link|iframe|form|style)\b|url\(|src=", html)
    assert len(html) < 4_500
    assert message["Message-ID"] == f"<{ID}@[127.0.0.1]>"
    assert message["Date"].datetime == MOMENT
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["To"] == "jo@example.org"
    assert message["From"] == "Canopy <canopy@localhost>"


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("second_factor_guessed", {}),
        *(("second_factor_changed", {"change": change}) for change in CHANGES),
    ],
)
def test_nobody_is_told_of_passwords_where_there_are_none(
    settings: Settings, kind: str, values: dict[str, str]
) -> None:
    values = values | {"factor_link": "https://canopy.example/profile/second-factor"}
    message = composed(replace(settings, password_sign_in=False), kind, **values)
    for text in (text_of(message), html_of(message)):
        assert LINK.partition("?")[0] not in text
        assert "/profile" in text or values.get("change") == "reset"
    assert "password" not in f"{message['Subject']} {text_of(message)}"


def test_every_kind_is_tested() -> None:
    assert VALUES.keys() == SUBJECTS.keys() == WORDS.keys()


def test_a_name_cannot_inject_headers_or_lines(
    settings: Settings, subtests: pytest.Subtests
) -> None:
    for kind, values in VALUES.items():
        names = {key for key in values if key.endswith("name")}
        plain = composed(settings, kind)
        # All of them where the subject has a name, and one of each sort elsewhere.
        for name in NASTY if kind == "invitation" else NASTY[::5] if names else ():
            with subtests.test(f"{kind} {name!r}"):
                _cannot_inject(plain, composed(settings, kind, **dict.fromkeys(names, name)))


def _cannot_inject(plain: EmailMessage, message: EmailMessage) -> None:
    for form in FORMS:
        content = message.as_bytes(policy=form)
        read = message_from_bytes(content, policy=policy.default)
        assert read.keys() == plain.keys()
        assert read["Subject"] == message["Subject"]
        assert len(read["Subject"]) <= 200
        assert str(read["Subject"]).isprintable()
        head = content.partition(b"\r\n\r\n")[0].replace(b"\r\n", b"")
        assert b"\r" not in head
        assert b"\n" not in head
        assert all(len(line) < 990 for line in content.split(b"\r\n"))
    assert text_of(message).count("\n") == text_of(plain).count("\n")


def test_a_name_does_not_become_a_link(settings: Settings) -> None:
    for name in (
        "https://evil.example/x",
        "evil.example",
        "EVIL.EXAMPLE.",
        "www.evil.example",
        "a.b.evil.example",
        "e.V.evil.example",
        "http://1.2.3.4/",
        "a.b@c.org",
        "evil。example",
        "evil．example",
        "evil.xn--example",
        "evil.e\u200dxample",
        "evil.e\ufe0fxample",
        "evil.e\u0301xample",
        "evil.香",
        "www.e",
        "WWW.e",
        "\\\\evil\\share",
    ):
        message = composed(settings, "invitation", account_name=name)
        for text in (text_of(message), html_of(message), str(message["Subject"])):
            assert name not in text
            assert not re.search(r"(?i)evil[.。．]\w|\bc\.org|www\.\w|://1\.|\\\\", text)
        assert link_in(message) == LINK


def test_an_ordinary_name_is_unchanged(settings: Settings) -> None:
    for name in (
        *("St. Gallen", "J. R. Smith", "Grün & Söhne", "O'Neil", "می‌خواهم", "👩‍🌾", "Wald 2.0"),
        *("Waldverein Harz e.V.", "Waldverein e.V", "Harz e.V., Goslar", "(Harz e.V.)", "A\\B"),
        *("J.R.R. Tolkien", "Lesy s.r.o.", "Bosques S.A. de C.V.", "Т.О.О. Лес", "U.S. Forest"),
    ):
        message = composed(settings, "invitation", inviter_name=name)
        assert text_of(message).startswith(f"{name} (")
        assert str(message["Subject"]).startswith(f"{name} invites you to Green Woods")
        read = message_from_bytes(message.as_bytes(policy=policy.SMTP), policy=policy.default)
        assert read["Subject"] == message["Subject"]


def test_the_instance_and_whom_to_ask(settings: Settings) -> None:
    named = replace(
        settings,
        instance_name="Wald & Forst",
        support_email="help@woods.example",
        privacy_url="https://woods.example/privacy?a=1&b=2",
        imprint_url="https://woods.example/imprint",
    )
    for kind in VALUES:
        message = composed(named, kind)
        assert "Wald & Forst" in str(message["Subject"])
        assert "Canopy" not in f"{message['Subject']} {text_of(message)}".replace("bin/canopy", "")
        for text in (text_of(message), html_of(message).replace("&amp;", "&")):
            assert "Wald & Forst" in text
            for line in (named.support_email, named.privacy_url, named.imprint_url):
                assert str(line) in text
    plain = composed(settings, "test")
    for text in (text_of(plain), html_of(plain)):
        assert "Questions?" not in text
        assert "Privacy" not in text
        assert "Legal notice" not in text


def test_html_is_escaped(settings: Settings) -> None:
    name = "<b onclick='x'>Jo</b>\"&"
    html = html_of(composed(settings, "invitation", inviter_name=name, inviter_email='"<i>"@x.org'))
    assert "<b" not in html.replace("<body", "").replace("<br", "")
    assert "<i>" not in html
    assert "&lt;b onclick=&#39;x&#39;&gt;Jo&lt;/b&gt;&#34;&amp;" in html


def test_a_long_name_is_truncated(settings: Settings) -> None:
    message = composed(settings, "invitation", inviter_name="a" * 200, account_name="b" * 200)
    assert message["Subject"] == f"{'a' * 79}… invites you to {'b' * 79}… on Canopy"


def test_times_are_those_of_the_recipient(settings: Settings) -> None:
    for locale, zone, words in (
        ("de-DE", "Europe/Berlin", "02.01.2026, 04:04 Europe/Berlin"),
        ("en-US", None, "01/02/2026, 3:04 AM UTC"),
        (None, "Europe/Berlin", "2 January 2026, 04:04 Europe/Berlin"),
        ("of a later version", None, "01/02/2026, 3:04 AM UTC"),
    ):
        envelope = Envelope(ID, "jo@example.org", MOMENT, locale, zone)
        values = VALUES["password_changed"]
        text = text_of(compose_message(envelope, "password_changed", values, settings))
        assert words in " ".join(text.split()), locale


def test_a_missing_value_raises(settings: Settings) -> None:
    envelope = Envelope(ID, "jo@example.org", MOMENT)
    with pytest.raises(UndefinedError):
        compose_message(envelope, "reset_password", {"name": "Jo"}, settings)


def test_a_recipient_is_one_address(settings: Settings) -> None:
    for recipient in ("jo@x.org\r\nBcc: victim@example.org", "jo@example.org, b@example.org", ""):
        with pytest.raises(Undeliverable):
            compose_message(Envelope(ID, recipient, MOMENT), "test", {}, settings)


def test_the_name_of_the_sender(settings: Settings) -> None:
    name = "Förster, Grün & Söhne GmbH (Süd) im weiten Land der Wälder"
    mail_from = sender(f'"{name}" <canopy@green-woods.example>')
    message = composed(replace(settings, mail_from=mail_from), "test")
    read = message_from_bytes(message.as_bytes(policy=policy.SMTP), policy=policy.default)
    (address,) = read["From"].addresses
    assert (address.display_name, address.addr_spec) == (name, "canopy@green-woods.example")


def test_a_long_host_is_not_folded(settings: Settings) -> None:
    host = ".".join(["canopy"] * 30)
    named = replace(settings, public_url=f"https://{host}")
    content = composed(named, "test").as_bytes(policy=policy.SMTP)
    assert f"\r\nMessage-ID: <{ID}@{host}>\r\n".encode() in content
