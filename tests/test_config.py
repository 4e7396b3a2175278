"""The settings: each has a default that works, and a wrong one is named (docs/settings.md)."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

import worker
from app.core import create_core
from config import ROOT, Settings, SettingsError, load_settings, setting_docs
from tests.captured import captured

INBOUND = (
    "BILLING_WEBHOOK_SECRET", "PAYMENT_PROVIDER_WEBHOOK_SECRET", "DB_WEBHOOK_SECRET",
    "METRICS_TOKEN",
)  # fmt: skip


# A value of each setting that is refused before anything is made; of these, any text can be right.
ANY_TEXT = {"SECRET_KEY_FORMER", "CHAT_MODEL", "CHAT_API_KEY", "MAP_TILE_ATTRIBUTION"}
WRONG = {
    "CANOPY_ENV": "prod", "HOST": "my host", "PORT": "0", "INSTANCE_PATH": f"{__file__}/instance",
    "DATABASE_URL": "mysql://h/d", "REDIS_URL": "localhost:6379", "SECRET_KEY": "hunter2",
    "PUBLIC_URL": "canopy.example", "TRUSTED_PROXIES": "-1", "CORS_ORIGINS": "example.org",
    "MAX_BODY_BYTES": "16 MB", "MAX_ACCOUNT_BYTES": "1e9", "MAX_HISTORY_BYTES": "many",
    "OUTBOUND": "no", "MAX_IMPORT_BYTES": "0", "AUDIT_DAYS": "0", "RATE_LIMIT_DISABLED": "maybe",
    "WEBHOOK_ALLOWED_NETWORKS": "office", "WEBHOOK_CA_BUNDLE": __file__,
    **dict.fromkeys(INBOUND, "fifteen letters"), "MAIL_URL": f"smtp://h?ca={__file__}",
    "MAIL_FROM": "nobody", "SIGN_UP": "no", "DEFAULT_PLAN": "gold", "ACCOUNTS_PER_PERSON": "-1",
    "INSTANCE_NAME": "x" * 65, "SUPPORT_EMAIL": "help", "PRIVACY_URL": "example.org",
    "IMPRINT_URL": "javascript:alert(1)", "PASSWORD_TIME_COST": "0", "PASSWORD_MEMORY_KIB": "8",
    "PASSWORD_PARALLELISM": "0", "CHAT_BASE_URL": "host", "PLANS_FILE": __file__,
    "MAP_LAYERS": "osm,google", "MAP_TILE_URL": "https://tiles.example.org/", "SMALL": "tiny",
    "BACKUP_DAILY": "/does/not/exist", "WEB_WORKERS": "0", "WEB_THREADS": "0",
    "JOB_WORKERS": "65", "RESTART_PARTS": "sometimes", "VALKEY_MEMORY_MB": "8",
    "JOB_MEMORY_MB": "10", "DATABASE_POOL_SIZE": "0", "DATABASE_TIMEOUT_MS": "5 s",
    "PGBOUNCER_POOL_MODE": "statement", "LOG_FORMAT": "xml", "LOG_FILE_MB": "0",
    "LOG_FILES": "-1", "LOG_LEVEL": "verbose", "OIDC_ISSUER": "id.example.org",
    "OIDC_CLIENT_ID": "alone", "OIDC_CLIENT_SECRET": "alone", "OIDC_NAME": "x" * 65,
    "OIDC_EMAIL_CLAIM": "e mail", "OIDC_DOMAINS": "*", "PASSWORD_SIGN_IN": "false",
}  # fmt: skip
MORE_WRONG = {
    "PORT": ("http", "65536", "+80", "٨٠", "8_000"),
    "MAX_BODY_BYTES": ("1e6",),
    "MAP_TILE_URL": (
        "https://tile-{s}.example.org/{z}/{x}/{y}.png", "ftp://tiles.example.org/{z}/{x}/{y}.png",
        "https://user@tiles.example.org/{z}/{x}/{y}.png", "https://a;b/{z}/{x}/{y}.png",
    ),
    "MAP_LAYERS": ("/does/not/exist.toml", __file__, "[[layer]]" * 100),
    "DATABASE_URL": (
        "canopy.sqlite3", "postgresql+psycopg://u:hunter2@host:abc/db",
        "postgresql://u:hunter2@host:65536", "postgresql://u:hunter2?a=b@host:abc/db",
        "postgresql://u:hunter2@[::1]:0/db?sslmode=require",
    ),
    "REDIS_URL": (
        "redis://:hunter2@localhost:abc/0", "rediss://:hunter2@localhost:0/0",
        "redis+sentinel://a:26379,b:26379", "redis+sentinel://a:26379,b:26379/",
        "redis+sentinel://a:26379,b:26379/forests/zero", "redis+sentinel://a:26379,/forests/0",
        "redis+sentinel://a:26379;b:26379/forests/0", "redis+sentinel://a:65536/forests/0",
        "redis+sentinel:///forests/0",
    ),
    "PUBLIC_URL": (
        "https://", "https://example.org/canopy", "https://[::1", "https://canopy.example:port",
    ),
    "INSTANCE_NAME": ("Wood\nBcc: b@example.org", "=?utf-8?q?Wood?="),
    "SUPPORT_EMAIL": ("Help <help@example.org>", "help@example.org, b@example.org"),
    "WEBHOOK_ALLOWED_NETWORKS": ("10.0.0.0/8,office",),
    "WEBHOOK_CA_BUNDLE": ("/does/not/exist.pem",),
    "PLANS_FILE": ("/does/not/exist.toml",),
    "CORS_ORIGINS": (
        "https://app.example.org/", "https://app.example.org/path", "https://user@app.example.org",
        "https://*.example.org", "https://app.example.org:", "ftp://app.example.org", "https://",
        "https://app.example.org, null", "*, https://app.example.org",
    ),
    "OIDC_ISSUER": (
        "http://id.example.org", "https://id.example.org?tenant=1", "https://id.example.org/#a",
        "https://user@id.example.org", "https://", "https://id.example.org:port",
        "https://id.example.org/" + "x" * 500,
    ),
    "OIDC_DOMAINS": ("woods", "@woods.example", "*.woods.example"),
    "OIDC_NAME": ("Green\nWoods",),
    "PASSWORD_SIGN_IN": ("never",),
}  # fmt: skip


def _load(folder: Path, **environ: str) -> Settings:
    return load_settings({"INSTANCE_PATH": str(folder)} | environ)


def test_every_setting_says_what_it_is_for() -> None:
    assert all(len(setting.purpose) > 10 for setting in setting_docs())


def test_defaults_work(tmp_path: Path) -> None:
    settings = _load(tmp_path)
    assert settings.database_url == f"sqlite:///{tmp_path}/canopy.sqlite3"
    assert settings.public_url == "http://127.0.0.1:8000"
    assert settings.max_body_bytes == 16 * 1024 * 1024
    assert settings.redis_url is None
    assert settings.trusted_proxies == 0
    assert settings.rate_limit_disabled is False


def test_a_wrong_value_of_any_setting_is_told_before_anything_is_made(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    assert {setting.name for setting in setting_docs()} == WRONG.keys() | ANY_TEXT
    folder = tmp_path / "instance"
    more = [(name, value) for name, values in MORE_WRONG.items() for value in values]
    for name, value in [*WRONG.items(), *more]:
        named = name.partition("CLIENT_")[0]  # those need each other
        with subtests.test(f"{name}={value}"):
            with pytest.raises(SettingsError, match=rf"^(.* )?{named}.*\.$") as refusal:
                _load(folder, **{name: value})
            assert "hunter2" not in str(refusal.value)
        assert not folder.exists()


def test_small_stands_for_others_that_are_unset(tmp_path: Path) -> None:
    for environ, web, valkey in (
        ({}, 2, 256),
        ({"SMALL": "true", "WEB_WORKERS": ""}, 1, 16),
        ({"SMALL": "yes", "WEB_WORKERS": "3"}, 3, 16),
        ({"SMALL": "false", "VALKEY_MEMORY_MB": "32"}, 2, 32),
    ):
        settings = _load(tmp_path, **environ)
        assert (settings.web_workers, settings.valkey_memory_mb) == (web, valkey)


def test_every_entry_tells_a_wrong_setting_and_ends_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that systemd does not start it again and again."""
    path = tmp_path / "plans.toml"
    path.write_text("[free]\nmembers = -1\n")
    for name, value in {"INSTANCE_PATH": tmp_path / "instance", "PLANS_FILE": path}.items():
        monkeypatch.setenv(name, str(value))
    for module in ("wsgi.py", "gunicorn.conf.py"):
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(ROOT / module))
        assert end.value.code == 2
        assert "line 2: members of [free] must be a whole number" in capsys.readouterr().err
    assert worker.main([]) == 2
    assert "line 2: members of [free] must be a whole number" in capsys.readouterr().err
    for entry in (["app.serve"], ["app.cli", "migrate"]):
        done = captured([sys.executable, "-m", *entry])
        assert done.returncode == 2
        assert "line 2: members of [free] must be a whole number" in done.stderr
    assert not (tmp_path / "instance").exists()


def test_an_empty_setting_is_an_unset_one(tmp_path: Path) -> None:
    for name in {setting.name for setting in setting_docs()} - {"INSTANCE_PATH"}:
        assert _load(tmp_path, **{name: "  "}) == _load(tmp_path), name


def test_an_unknown_option_of_the_address_of_a_database(tmp_path: Path) -> None:
    settings = _load(tmp_path, DATABASE_URL="postgresql://h/d?x=y")
    with pytest.raises(SettingsError, match="DATABASE_URL cannot be used"):
        create_core(settings)


def test_a_short_secret_is_not_shown(tmp_path: Path) -> None:
    for name in INBOUND:
        with pytest.raises(SettingsError) as refusal:
            _load(tmp_path, **{name: "hunter2"})
        assert str(refusal.value) == f"{name} must have at least 16 characters."
        _load(tmp_path, **{name: "x" * 16})


@pytest.mark.parametrize(
    ("environ", "is_set"),
    [
        ({}, False),
        ({"HOST": "0.0.0.0", "PORT": "9000"}, False),
        ({"PUBLIC_URL": "https://forest.example.org"}, True),
        ({"PUBLIC_URL": "http://localhost:8000"}, True),
    ],
)
def test_whether_the_public_url_is_set(
    tmp_path: Path, environ: dict[str, str], is_set: bool
) -> None:
    settings = _load(tmp_path, **environ)
    assert settings.public_url_is_set is is_set


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("postgres://u:p@h/d", "postgresql+psycopg://u:p@h/d"),
        ("postgresql://h/d?sslmode=require", "postgresql+psycopg://h/d?sslmode=require"),
        ("postgres://u:p/w:x@h:1/d", "postgresql+psycopg://u:p/w:x@h:1/d"),
        ("postgres://u@%2Frun%2Fpg/d", "postgresql+psycopg://u@%2Frun%2Fpg/d"),
        ("postgresql:///d?host=/run/pg", "postgresql+psycopg:///d?host=/run/pg"),
        ("postgresql://[::1]:5432/d", "postgresql+psycopg://[::1]:5432/d"),
        ("postgres://u:p@a:1,b/d", "postgresql+psycopg://u:p@/d?host=a,b&port=1,5432"),
        ("postgres://u:p/?@a:1,b/d", "postgresql+psycopg://u:p/?@/d?host=a,b&port=1,5432"),
        ("postgres://u:%25%C3%A9@h/d?x=a@b", "postgresql+psycopg://u:%25%C3%A9@h/d?x=a@b"),
        ("postgres://[::1],a/?x=y", "postgresql+psycopg:///?host=::1,a&port=5432,5432&x=y"),
        ("sqlite:////srv/canopy.sqlite3", "sqlite:////srv/canopy.sqlite3"),
    ],
)
def test_forms_of_the_address_of_a_database(tmp_path: Path, sent: str, kept: str) -> None:
    settings = _load(tmp_path, DATABASE_URL=sent)
    assert settings.database_url == kept


@pytest.mark.parametrize(
    ("password", "blamed"),
    [
        ("a%b@c#d$e", "@ written as %40"),
        ("p@s/s", "@ written as %40"),
        ("p@s?s", "@ written as %40"),
        ("p@s:s", "@ written as %40"),
        ("a%b0c", "% written as %25"),
    ],
)
@pytest.mark.parametrize("hosts", ["db", "db:5432", "db1:5432,db2"])
def test_a_password_of_a_database_that_is_not_encoded(
    tmp_path: Path, password: str, blamed: str, hosts: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        _load(tmp_path, DATABASE_URL=f"postgresql://canopy:{password}@{hosts}/canopy")
    assert str(refused.value) == (
        f"DATABASE_URL must have {blamed} in its password; or leave the password out and set "
        "PGPASSWORD."
    )


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("*", {"*"}),
        ("https://app.example.org", {"https://app.example.org"}),
        ("https://a.example,http://localhost:5173", {"https://a.example", "http://localhost:5173"}),
        ("https://App.Example.org:443 , http://a:80", {"https://app.example.org", "http://a"}),
        ("http://a:443", {"http://a:443"}),
        ("http://[::1]:3000", {"http://[::1]:3000"}),
    ],
)
def test_origins_are_as_browsers_send_them(tmp_path: Path, sent: str, kept: set[str]) -> None:
    settings = _load(tmp_path, CORS_ORIGINS=sent)
    assert settings.cors_origins == kept


def test_a_wrong_origin_is_told_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refusal:
        _load(tmp_path, CORS_ORIGINS="https://app.example.org/")
    assert str(refusal.value) == (
        "CORS_ORIGINS must be * or origins such as https://app.example.org, separated by commas, "
        "without a path or a slash at the end, not 'https://app.example.org/'."
    )


def test_production_needs_a_secret_key(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="SECRET_KEY must be set"):
        _load(tmp_path, CANOPY_ENV="production")
    _load(tmp_path, CANOPY_ENV="production", SECRET_KEY="k" * 32)


def test_a_secret_key_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "instance"
    keys = {_load(folder).secret_key for _ in range(2)}
    (key,) = keys
    assert len(key) >= 32
    assert (folder / "secret_key").read_text().strip() == key
    assert (folder / "secret_key").stat().st_mode & 0o077 == 0
    assert folder.stat().st_mode & 0o077 == 0


SSO = {
    "OIDC_ISSUER": "https://id.example.org",
    "OIDC_CLIENT_ID": "canopy",
    "OIDC_CLIENT_SECRET": "a secret of the provider",
}


def test_single_sign_on_is_set_whole(tmp_path: Path) -> None:
    settings = _load(tmp_path, PASSWORD_SIGN_IN="false", **SSO)
    assert settings.oidc_issuer == "https://id.example.org"
    assert settings.password_sign_in is False
    for name in SSO:
        others = {key: value for key, value in SSO.items() if key != name}
        with pytest.raises(SettingsError, match=f"{name} must be set too"):
            _load(tmp_path, **others)


def test_settings_of_single_sign_on_need_a_provider(tmp_path: Path) -> None:
    for name, value in (
        ("PASSWORD_SIGN_IN", "false"),
        ("OIDC_DOMAINS", "woods.example"),
        ("OIDC_EMAIL_CLAIM", "upn"),
    ):
        with pytest.raises(SettingsError, match=f"{name}.*OIDC_ISSUER"):
            _load(tmp_path, **{name: value})


def test_a_provider_without_tls_is_for_development(tmp_path: Path) -> None:
    for issuer in ("http://127.0.0.1:8080/realms/woods", "http://localhost", "http://[::1]:80"):
        own = SSO | {"OIDC_ISSUER": issuer}
        assert _load(tmp_path, **own).oidc_issuer == issuer
        with pytest.raises(SettingsError, match="OIDC_ISSUER must begin with https"):
            _load(tmp_path, CANOPY_ENV="production", SECRET_KEY="x" * 32, **own)


def test_domains_are_read_as_they_are_compared(tmp_path: Path) -> None:
    settings = _load(tmp_path, OIDC_DOMAINS="Woods.example, oak.example", **SSO)
    assert settings.oidc_domains == {"woods.example", "oak.example"}
