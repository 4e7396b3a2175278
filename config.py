"""All settings of the service as one table, read from the environment by ``load_settings``.

``docs/settings.md`` has the same table.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Any

from app.settings.environment_file import names_of_file
from app.settings.mail import MailServer, Sender, email, mail_server, sender
from app.settings.map_layers import Layer, map_layers
from app.settings.names import find_nearest, is_of_others
from app.settings.plans import plans_of
from app.settings.single_sign_on import SingleSignOnSettings, check_single_sign_on
from app.settings.valkey import valkey_address
from app.settings.values import (
    Network,
    boolean,
    certificates,
    database_address,
    default_url,
    existing_folder,
    file,
    folder,
    host,
    in_instance_folder,
    line,
    make_instance_folder,
    missing_part,
    networks,
    one_of,
    optional,
    origins,
    public_url,
    secret,
    stored_secret_key,
    text,
    tile_url,
    url,
    whole,
)
from app.settings.values import setting as _setting
from app.values.command_name import canopy_command

ROOT = Path(__file__).resolve().parent
OWN_INSTANCE = ROOT / "instance"  # of this checkout, unless INSTANCE_PATH names another one

# Files in the instance folder, used without SECRET_KEY in the environment.
SECRET_KEY_FILE = "secret_key"  # noqa: S105 - a name
FORMER_SECRET_KEY_FILE = "secret_key_former"  # noqa: S105 - a name

# What SMALL stands for.
_SMALL = {"web_workers": 1, "valkey_memory_mb": 16}

# Settings that are no longer read, and what happens instead.
_FORMER = {"DATABASE_REPLICA_URL": "reads go to the primary"}


class SettingsError(ValueError):
    """A setting cannot be used. The message is one sentence that names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(SingleSignOnSettings):
    """The settings. The name of a field in capitals is that of its environment variable."""

    canopy_env: str = _setting(
        "development",
        one_of("development", "production"),
        "`production` refuses to start without `SECRET_KEY`",
    )
    host: str = _setting("127.0.0.1", host, "address on which the web server listens")
    port: int = _setting("8000", whole(1, 65535), "port on which the web server listens")
    instance_path: Path = _setting(
        str(OWN_INSTANCE), folder, "folder for the database, Valkey's socket and the logs"
    )
    database_url: str = _setting(
        "",
        database_address,
        "`sqlite:///…` or `postgresql://…`; unset: SQLite in the instance folder",
    )
    redis_url: str | None = _setting(
        "",
        valkey_address,
        "your own Valkey or Redis, or Sentinels; unset: an embedded Valkey in the instance folder",
    )
    secret_key: str = _setting(
        "",
        text,
        "signs cookies and backups, encrypts secrets; unset: generated in the instance folder",
    )
    secret_key_former: str | None = _setting(
        "", optional, "the previous `SECRET_KEY`, needed until `bin/canopy secret-key finish`"
    )
    public_url: str = _setting(
        "", public_url, "public address of the service; unset: from `HOST` and `PORT`"
    )
    public_url_is_set: bool = False  # else links use each request's own scheme and host
    trusted_proxies: int = _setting("0", whole(0, 10), "reverse proxies in front of the service")
    cors_origins: frozenset[str] = _setting(
        "", origins, "origins whose pages may call /v1, /api and /ogc, comma-separated, or `*`"
    )
    max_body_bytes: int = _setting(
        str(16 * 1024 * 1024), whole(1024, 1024**3), "largest request body, in bytes"
    )
    max_account_bytes: int = _setting(
        str(2 * 1024**3), whole(0, 2**60), "bytes of boundaries and metadata in an account; 0: any"
    )
    max_history_bytes: int = _setting(
        str(2 * 1024**3),
        whole(0, 2**60),
        "bytes of events, audit log and deliveries in an account; 0: any",
    )
    max_import_bytes: int = _setting(
        str(50 * 1024**2), whole(1024, 1024**3), "largest file that can be imported, in bytes"
    )
    audit_days: int = _setting("744", whole(1, 36_500), "days for which the audit log is kept")
    rate_limit_disabled: bool = _setting("false", boolean, "`true` turns all rate limits off")
    outbound: str = _setting(
        "on",
        one_of("on", "off"),
        "`off`: no webhook and no email is sent, and the chat does not answer; what waits is held",
    )
    webhook_allowed_networks: tuple[Network, ...] = _setting(
        "", networks, "private networks in which webhooks of every account may have receivers"
    )
    webhook_ca_bundle: Path | None = _setting(
        "", certificates, "CA certificates trusted for webhook receivers, besides the system's"
    )
    billing_webhook_secret: str | None = _setting(
        "", secret, "signing secret of /api/billing/webhook, at least 16 characters"
    )
    payment_provider_webhook_secret: str | None = _setting(
        "",
        secret,
        "signing secret of /api/billing/payment-provider-webhook, at least 16 characters",
    )
    db_webhook_secret: str | None = _setting(
        "", secret, "signing secret of /api/db/webhook, at least 16 characters"
    )
    mail_url: MailServer | None = _setting(
        "", mail_server, "mail server; unset: emails are saved as files in the instance folder"
    )
    mail_from: Sender = _setting("Canopy <canopy@localhost>", sender, "sender of emails")
    sign_up: str = _setting(
        "open",
        one_of("open", "invited", "closed"),
        "who can sign up: anybody, only invited people, or only those whom the operator adds",
    )
    default_plan: str = _setting("free", text, "plan of new accounts")
    accounts_per_person: int = _setting(
        "10", whole(0, 10_000), "accounts that a person may own before they can create no more"
    )
    instance_name: str = _setting(
        "Canopy", line(64), "name of the instance, shown in pages and emails"
    )
    support_email: str | None = _setting(
        "", email, "contact address for help, shown in pages, emails and security.txt"
    )
    privacy_url: str | None = _setting("", url("http", "https"), "address of your privacy policy")
    imprint_url: str | None = _setting("", url("http", "https"), "address of your legal notice")
    password_time_cost: int = _setting("3", whole(1, 20), "Argon2id iterations for each password")
    password_memory_kib: int = _setting(
        str(64 * 1024), whole(8, 4 * 1024 * 1024), "Argon2id memory, in KiB"
    )
    password_parallelism: int = _setting("4", whole(1, 64), "Argon2id parallelism (lanes)")
    chat_base_url: str | None = _setting(
        "", url("http", "https"), "an OpenAI-compatible server for /api/chat"
    )
    chat_model: str | None = _setting("", optional, "model that /api/chat uses")
    chat_api_key: str | None = _setting("", optional, "API key for the chat server")
    plans_file: Path | None = _setting("", file, "TOML file that changes or adds plans")
    map_layers: tuple[Layer, ...] = _setting(
        "",
        map_layers,
        "backgrounds of maps: names of presets, comma-separated, or a TOML file; unset: those that "
        "operators turn on",
    )
    map_tile_url: str | None = _setting(
        "", tile_url, "without `MAP_LAYERS`: address of the only background, with `{z}/{x}/{y}`"
    )
    map_tile_attribution: str = _setting("", text, "attribution of that background")
    small: bool = _setting(
        "false", boolean, "`true` takes little memory: WEB_WORKERS=1, VALKEY_MEMORY_MB=16 if unset"
    )
    web_workers: int = _setting("2", whole(1, 256), "processes of the web server")
    web_threads: int = _setting("4", whole(1, 256), "threads in each web process")
    job_workers: int = _setting(
        "1", whole(1, 64), "workers of `bin/serve`; each runs a job of every queue at a time"
    )
    restart_parts: bool = _setting(
        "true", boolean, "`false`: `bin/serve` ends when one of its parts dies, and restarts none"
    )
    valkey_memory_mb: int = _setting(
        "256", whole(16, 2**20), "memory for the data of the embedded Valkey, in MiB"
    )
    job_memory_mb: int = _setting(
        "2048", whole(256, 2**40), "memory of a job, in MiB; its threads may reserve half of it"
    )
    database_pool_size: int = _setting(
        "8",
        whole(1, 500),
        "PostgreSQL connections of each process for writing, and as many for reading",
    )
    database_timeout_ms: int = _setting(
        "5000", whole(100, 600_000), "timeout for a lock or a statement, in milliseconds"
    )
    pgbouncer_pool_mode: str = _setting(
        "session",
        one_of("session", "transaction"),
        "`pool_mode` of the pgbouncer that `DATABASE_URL` leads to, if it does",
    )
    backup_daily: Path | None = _setting(
        "",
        existing_folder,
        "folder for a backup each day, of which seven are kept; unset: no backups by themselves",
    )
    metrics_token: str | None = _setting(
        "",
        secret,
        "bearer token for /metrics, at least 16 characters; unset: /metrics does not exist",
    )
    log_format: str = _setting(
        "auto", one_of("auto", "json", "text"), "`auto`: text on a terminal, otherwise JSON"
    )
    log_file_mb: int = _setting(
        "10", whole(1, 2**20), "size of a log file of `bin/serve` before it is rotated, in MiB"
    )
    log_files: int = _setting(
        "5",
        whole(0, 1000),
        "files that `bin/serve` keeps of each log; 0: it logs to standard error",
    )
    log_level: str = _setting(
        "info", one_of("debug", "info", "warning", "error"), "lowest severity to log"
    )

    @property
    def uses_sqlite(self) -> bool:
        return self.database_url.startswith("sqlite:")

    @property
    def is_https(self) -> bool:
        """True if people reach the service by https, so that cookies are for https only."""
        return self.public_url.startswith("https:")

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
    """Return the rows of the documentation, in the order of the table."""
    return [
        SettingDoc(field.name.upper(), field.metadata["default"], field.metadata["purpose"])
        for field in _settings()
    ]


def load_settings(environ: Mapping[str, str] | None = None, *, creates: bool = True) -> Settings:
    """Read the settings from ``environ``, by default the process's own.

    Args:
        creates: make the instance folder and its key if they do not exist.

    Raises:
        SettingsError: a value is invalid, the instance folder cannot be written, a secret that
            production requires is missing, or there is no instance and ``creates`` is false.
    """
    environ = os.environ if environ is None else environ
    values = {field.name: _parse(field, environ) for field in _settings()}
    if values["small"]:
        unset = {name for name in _SMALL if not environ.get(name.upper(), "").strip()}
        values |= {name: _SMALL[name] for name in unset}
    try:
        _check_together(values)
        check_single_sign_on(values)
        plans_of(values["plans_file"], values["default_plan"])
        if creates:
            make_instance_folder(values["instance_path"])
    except ValueError as error:
        raise SettingsError(str(error)) from None
    if not values["database_url"]:
        values["database_url"] = "sqlite:///canopy.sqlite3"
    values["database_url"] = in_instance_folder(values["database_url"], values["instance_path"])
    if not creates and (missing := missing_part(values, SECRET_KEY_FILE)):
        raise SettingsError(
            f"There is no {missing}. Start the service, or run: {canopy_command()} migrate. If the "
            "instance is elsewhere, set INSTANCE_PATH and DATABASE_URL as for the service."
        )
    values["public_url_is_set"] = bool(values["public_url"])
    if not values["public_url"]:
        values["public_url"] = default_url(values["host"], values["port"])
    values["public_url"] = values["public_url"].rstrip("/")
    if not values["secret_key"]:
        _use_own_keys(values)
    return Settings(**values)


def _check_together(values: Mapping[str, Any]) -> None:
    """Raise ValueError if settings do not fit together."""
    if not values["secret_key"] and values["canopy_env"] == "production":
        raise ValueError(
            "SECRET_KEY must be set with CANOPY_ENV=production; "
            "generate one with: python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
        )
    if values["secret_key"] and len(values["secret_key"]) < 32:
        raise ValueError("SECRET_KEY must have at least 32 characters.")
    backups, instance = values["backup_daily"], values["instance_path"].resolve()
    if backups is not None and backups.is_relative_to(instance):
        raise ValueError(
            "BACKUP_DAILY must not be in INSTANCE_PATH, with which the backups would be lost."
        )
    if values["password_memory_kib"] < 8 * values["password_parallelism"]:  # RFC 9106, section 3.1
        raise ValueError(
            "PASSWORD_MEMORY_KIB must be at least 8 times PASSWORD_PARALLELISM, "
            f"{8 * values['password_parallelism']} here."
        )


def _use_own_keys(values: dict[str, Any]) -> None:
    """Use the keys in the instance folder, as SECRET_KEY is not set."""
    values["secret_key"] = stored_secret_key(values["instance_path"] / SECRET_KEY_FILE)
    former = values["instance_path"] / FORMER_SECRET_KEY_FILE
    if not values["secret_key_former"] and former.exists():
        values["secret_key_former"] = former.read_text().strip()


def setting_faults(environ: Mapping[str, str]) -> list[str]:
    """Return a sentence for each invalid value, of which ``load_settings`` raises the first."""
    faults = []
    for field in _settings():
        try:
            _parse(field, environ)
        except SettingsError as error:
            faults.append(str(error))
    return faults


def unused_settings(
    environ: Mapping[str, str] | None = None, of_file: Collection[str] | None = None
) -> list[str]:
    """Return a clause for each name that is set as if it were a setting: a former one, one in the
    file of settings, and one in the environment that is nearly a setting's.

    Args:
        of_file: the names in the file; by default those of the machine's file, if this process can
            read it and has its values.
    """
    environ = os.environ if environ is None else environ
    of_file = names_of_file(environ) if of_file is None else of_file
    names = [field.name.upper() for field in _settings()]
    clauses = [
        f"{name} is set, and no longer used: {instead}"
        for name, instead in _FORMER.items()
        if environ.get(name, "").strip()
    ]
    for name in sorted(environ.keys() - {*names, *_FORMER}):
        if is_of_others(name):
            continue
        if nearest := find_nearest(name, names, is_surely_meant=name in of_file):
            clauses.append(f"{name} is no setting; is it meant as {nearest}?")
        elif name in of_file:
            clauses.append(f"{name} is no setting")
    return clauses


def _settings() -> list[Field[Any]]:
    """Return the fields of ``Settings`` that are read from the environment, inherited ones last."""
    settings = [field for field in fields(Settings) if field.metadata]
    inherited = {field.name for field in fields(SingleSignOnSettings)}
    return sorted(settings, key=lambda field: field.name in inherited)


def _parse(field: Field[Any], environ: Mapping[str, str]) -> Any:
    name = field.name.upper()
    text = environ.get(name, "").strip() or field.metadata["default"]
    try:
        return field.metadata["read"](text)
    except ValueError as error:
        is_secret = name.endswith(("_SECRET", "_KEY", "_TOKEN", "_URL"))  # a URL has a password
        value = "" if is_secret else f", not {text!r}"
        raise SettingsError(f"{name} {error}{value}.") from None
