"""Every setting of the service: one table, read once from the environment.

``load_settings`` turns the environment into a frozen ``Settings``. A value that cannot be used
raises ``SettingsError`` with one sentence that names the setting, so that a start fails at once
and clearly. ``docs/operations.md`` carries the same table; a test holds the two together.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class SettingsError(ValueError):
    """A setting cannot be used. The message is one sentence that names it."""


def _setting(default: str, read: Callable[[str], Any], purpose: str) -> Any:
    """A field of ``Settings``: its default as text, how the text is read, what it is for."""
    return field(metadata={"default": default, "read": read, "purpose": purpose})


def _text(value: str) -> str:
    return value


def _optional(value: str) -> str | None:
    return value or None


def _boolean(value: str) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if value.lower() not in words:
        raise ValueError("must be true or false")
    return words[value.lower()]


def _whole(low: int, high: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        if not value.isascii() or not value.isdigit() or not low <= int(value) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(value)

    return read


def _one_of(*choices: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in choices:
            raise ValueError("must be one of " + ", ".join(choices))
        return value

    return read


def _url(*schemes: str) -> Callable[[str], str | None]:
    def read(value: str) -> str | None:
        if value and urlsplit(value).scheme not in schemes:
            raise ValueError("must be a URL that begins with " + " or ".join(schemes))
        return value or None

    return read


def _networks(value: str) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(part) for part in value.replace(",", " ").split())
    except ValueError as error:
        raise ValueError(
            f"must be networks such as 10.0.0.0/8, apart by commas ({error})"
        ) from None


def _file(value: str) -> Path | None:
    if value and not Path(value).is_file():
        raise ValueError("must name a file that exists")
    return Path(value).resolve() if value else None


def _folder(value: str) -> Path:
    return Path(value).expanduser().absolute()


def _database_url(value: str) -> str:
    """SQLAlchemy's form of the address; ``postgres://`` and ``postgresql://`` mean psycopg 3."""
    if not value or (value.startswith("sqlite:///") and value.rstrip("/") != "sqlite:"):
        return value
    for prefix in ("postgresql+psycopg://", "postgresql://", "postgres://"):
        if value.startswith(prefix):
            return "postgresql+psycopg://" + value.removeprefix(prefix)
    raise ValueError("must be sqlite:/// with the path of a file, or begin with postgresql://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings in force. A field's name in capitals is the name of its variable."""

    canopy_env: str = _setting(
        "development",
        _one_of("development", "production"),
        "`production` refuses to start without `SECRET_KEY`",
    )
    host: str = _setting("127.0.0.1", _text, "address that the web server listens on")
    port: int = _setting("8000", _whole(1, 65535), "port that the web server listens on")
    instance_path: Path = _setting(
        str(ROOT / "instance"), _folder, "folder of the database, the queue's socket and the logs"
    )
    database_url: str = _setting(
        "", _database_url, "`sqlite:///…` or `postgresql://…`; unset: SQLite in the instance folder"
    )
    redis_url: str | None = _setting(
        "",
        _url("redis", "rediss", "unix"),
        "a Valkey or Redis of your own; unset: an embedded one in the instance folder",
    )
    secret_key: str = _setting(
        "", _text, "secret by which backups know their instance; unset: made and kept in its folder"
    )
    public_url: str = _setting(
        "", _url("http", "https"), "address that people and programs reach; unset: HOST and PORT"
    )
    trusted_proxies: int = _setting("0", _whole(0, 10), "number of reverse proxies in front")
    max_body_bytes: int = _setting(
        str(16 * 1024 * 1024), _whole(1024, 1024**3), "largest request body, in bytes"
    )
    rate_limit_disabled: bool = _setting("false", _boolean, "`true` skips every rate limit")
    webhook_allowed_networks: tuple[Network, ...] = _setting(
        "", _networks, "private networks that webhooks may reach, for development"
    )
    webhook_ca_bundle: Path | None = _setting(
        "", _file, "certificates that webhook receivers are checked against; unset: the system's"
    )
    billing_webhook_secret: str | None = _setting("", _optional, "key of /api/billing/webhook")
    payment_provider_webhook_secret: str | None = _setting(
        "", _optional, "key of /api/billing/payment-provider-webhook"
    )
    db_webhook_secret: str | None = _setting("", _optional, "key of /api/db/webhook")
    mail_url: str | None = _setting(
        "", _url("smtp", "smtps"), "mail server; unset: mails are written to the instance folder"
    )
    mail_from: str = _setting("Canopy <canopy@localhost>", _text, "sender of mails")
    chat_base_url: str | None = _setting(
        "", _url("http", "https"), "an OpenAI-compatible server for /api/chat"
    )
    chat_model: str | None = _setting("", _optional, "model that /api/chat asks")
    chat_api_key: str | None = _setting("", _optional, "key for the chat server")
    plans_file: Path | None = _setting("", _file, "TOML file that changes or adds plans")
    map_tile_url: str | None = _setting("", _url("http", "https"), "map tiles, `{z}/{x}/{y}`")
    map_tile_attribution: str = _setting("", _text, "credit line of the map tiles")
    web_workers: int = _setting("2", _whole(1, 256), "processes of the web server")
    web_threads: int = _setting("4", _whole(1, 256), "threads of each web process")
    database_pool_size: int = _setting(
        "8",
        _whole(1, 500),
        "PostgreSQL connections that each process may hold for changes, and again for reading",
    )
    database_timeout_ms: int = _setting(
        "5000", _whole(100, 600_000), "longest wait for a lock or a statement, in milliseconds"
    )
    metrics_token: str | None = _setting(
        "", _optional, "bearer token of /metrics; unset: /metrics does not exist"
    )
    log_format: str = _setting(
        "auto", _one_of("auto", "json", "text"), "`auto` is text on a terminal, else JSON"
    )
    log_level: str = _setting(
        "info", _one_of("debug", "info", "warning", "error"), "least severity that is logged"
    )

    @property
    def uses_sqlite(self) -> bool:
        return self.database_url.startswith("sqlite:")

    @property
    def production(self) -> bool:
        return self.canopy_env == "production"


@dataclass(frozen=True, slots=True)
class SettingDoc:
    """One row of the documentation of the settings."""

    name: str
    default: str
    purpose: str


def setting_docs() -> list[SettingDoc]:
    """All settings in the order of the table, for the documentation and ``canopy doctor``."""
    return [
        SettingDoc(item.name.upper(), item.metadata["default"], item.metadata["purpose"])
        for item in fields(Settings)
    ]


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings from ``environ`` (the process's own by default).

    Raises:
        SettingsError: a value is wrong, the instance folder cannot be written, or a secret that
            production needs is missing.
    """
    source = os.environ if environ is None else environ
    values = {item.name: _read(item.name, item.metadata, source) for item in fields(Settings)}
    _make_instance_folder(values["instance_path"])
    if not values["database_url"]:
        values["database_url"] = "sqlite:///canopy.sqlite3"
    values["database_url"] = _in_folder(values["database_url"], values["instance_path"])
    if not values["public_url"]:
        values["public_url"] = f"http://{_name_of(values['host'])}:{values['port']}"
    values["public_url"] = values["public_url"].rstrip("/")
    if not values["secret_key"]:
        if values["canopy_env"] == "production":
            raise SettingsError(
                "SECRET_KEY must be set with CANOPY_ENV=production; "
                "make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
            )
        values["secret_key"] = _kept_secret(values["instance_path"] / "secret_key")
    if len(values["secret_key"]) < 32:
        raise SettingsError("SECRET_KEY must have at least 32 characters.")
    return Settings(**values)


def setting_faults(environ: Mapping[str, str] | None = None) -> list[str]:
    """A sentence for every value that cannot be read, for ``canopy doctor``; a start ends with the
    first."""
    source = os.environ if environ is None else environ
    faults = []
    for item in fields(Settings):
        try:
            _read(item.name, item.metadata, source)
        except SettingsError as error:
            faults.append(str(error))
    return faults


def _in_folder(url: str, folder: Path) -> str:
    """An SQLite file that is named without its folder lies in the instance folder."""
    if not url.startswith("sqlite:///"):
        return url
    return f"sqlite:///{folder / url.removeprefix('sqlite:///')}"


def _name_of(host: str) -> str:
    """What a browser calls a listening address; all addresses are reached as localhost."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not listened on
        return "localhost"
    return f"[{host}]" if ":" in host else host


def _read(name: str, metadata: Mapping[str, Any], source: Mapping[str, str]) -> Any:
    text = source.get(name.upper(), "").strip() or metadata["default"]
    try:
        return metadata["read"](text)
    except ValueError as error:
        secret = name.endswith(("_secret", "_key", "_token", "_url"))  # an address has a password
        shown = "" if secret else f", not {text!r}"
        raise SettingsError(f"{name.upper()} {error}{shown}.") from None


def _make_instance_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"INSTANCE_PATH {folder} cannot be made ({error.strerror}); name another folder."
        ) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SettingsError(f"INSTANCE_PATH {folder} cannot be written; name another folder.")


def _kept_secret(path: Path) -> str:
    """The instance's own secret key: made once, readable by its owner only.

    Two processes that start at once agree on one key: it is written aside and linked into place,
    and the link of the later one fails.
    """
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(48))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()
