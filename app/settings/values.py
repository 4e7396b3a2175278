"""Parsers of settings, from text to values.

They raise ``ValueError`` for an invalid text. The message continues the name of the setting: "must
be …".
"""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
import ssl
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# The header Origin: no path, not even "/".
_ORIGIN = re.compile(r"https?://([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_HOST_AND_PORT = re.compile(r"(?P<host>[^:\[\]@/,\s]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>[0-9]{1,5}))?")
_HOST_NAME = re.compile(r"[A-Za-z0-9_.:%-]+")
_DEFAULT_PORTS = (("http://", ":80"), ("https://", ":443"))
# User and password of a database for SQLAlchemy: a password may have slashes.
_DATABASE_USER = re.compile(r"\A([^:/]*(:(?P<password>[^@]*))?@)?")
_DATABASE_PORT = re.compile(r"(\[[^/?]+\]|[^:/?]*)(:(?P<port>[^/?]*))?([/?].*)?")

_SECRET_LENGTH = 16  # least characters
_PORT_PROBLEM = "must have a number from 1 to 65535 as its port"


def setting(default: str, read: Callable[[str], Any], purpose: str) -> Any:
    """Declare a field of ``config.Settings``: its default as text, its parser, its purpose."""
    return field(metadata={"default": default, "read": read, "purpose": purpose})


def text(value: str) -> str:
    return value


def optional(value: str) -> str | None:
    return value or None


def secret(value: str) -> str | None:
    """Check a secret that cannot be guessed, or nothing."""
    if value and len(value) < _SECRET_LENGTH:
        raise ValueError(f"must have at least {_SECRET_LENGTH} characters")
    return value or None


def line(longest: int) -> Callable[[str], str]:
    """Return a parser for one line of text, for titles of pages and subjects of mails."""

    def read(value: str) -> str:
        if not value.isprintable() or len(value) > longest or "=?" in value:
            raise ValueError(f"must be one line of at most {longest} characters, without =?")
        return value

    return read


def boolean(value: str) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if value.lower() not in words:
        raise ValueError("must be true or false")
    return words[value.lower()]


def whole(low: int, high: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        if not value.isascii() or not value.isdigit() or not low <= int(value) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(value)

    return read


def one_of(*choices: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in choices:
            raise ValueError("must be one of " + ", ".join(choices))
        return value

    return read


def url(*schemes: str) -> Callable[[str], str | None]:
    def read(value: str) -> str | None:
        if value and not _is_url(value, schemes):
            raise ValueError("must be a URL that begins with " + " or ".join(schemes))
        if value.startswith(("http:", "https:")):
            check_port(value)
        return value or None

    return read


def host(value: str) -> str:
    if not _HOST_NAME.fullmatch(value):
        raise ValueError("must be an address or a name of this machine, such as 127.0.0.1")
    return value


def public_url(value: str) -> str | None:
    address = url("http", "https")(value)
    if address and re.search(r"[/?#@]", address.partition("://")[2].removesuffix("/")):
        raise ValueError(
            "must be scheme, host and port alone, such as https://forest.example.org: Canopy "
            "needs a name of its own, and does not run below a path"
        )
    return address


def tile_url(value: str) -> str | None:
    url("http", "https")(value.replace("{s}", "s"))
    if value and not all(part in value for part in ("{z}", "{x}", "{y}")):
        raise ValueError("must have {z}, {x} and {y} where the numbers of a tile go")
    if "{s}" in value.replace("://{s}.", "://", 1):
        raise ValueError("can have {s} only as the first part of the host")
    if re.search(r"[{}]", re.sub(r"\{[zxysr]\}", "", value)):
        raise ValueError("can have no words in braces but {z}, {x}, {y}, {s} and {r}")
    if value:
        image_origin(value)
    return value or None


def image_origin(value: str) -> str:
    """Return whose images an address of tiles loads, as a content security policy names it;
    ``{s}`` in the host becomes a wildcard.

    Raises:
        ValueError: the host has other characters than those of names and addresses.
    """
    parts = urlsplit(value)
    host = parts.netloc.lower()
    if not _ORIGIN.fullmatch(f"{parts.scheme}://{host.removeprefix('{s}.')}"):
        raise ValueError("must have a host of letters, digits, dots and hyphens, and no user")
    return f"{parts.scheme}://{host.replace('{s}', '*')}"


def networks(value: str) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(part) for part in _list_parts(value))
    except ValueError as error:
        raise ValueError(
            f"must be networks such as 10.0.0.0/8, separated by commas ({error})"
        ) from None


def origins(value: str) -> frozenset[str]:
    """Parse origins as browsers send them: in lower case, without the default port."""
    names = frozenset(_parse_origin(part.lower()) for part in _list_parts(value))
    if "*" in names and len(names) > 1:
        raise ValueError("must be * alone, or origins without it")
    return names


def file(value: str) -> Path | None:
    if value and not Path(value).is_file():
        raise ValueError("must name a file that exists")
    return Path(value).resolve() if value else None


def existing_folder(value: str) -> Path | None:
    if value and not Path(value).is_dir():
        raise ValueError("must name a folder that exists")
    return Path(value).resolve() if value else None


def certificates(value: str) -> Path | None:
    """Check a file of certificate authorities."""
    path = file(value)
    if path is not None:
        try:
            ssl.create_default_context(cafile=path)
        except OSError:
            raise ValueError("must name a readable file with certificates, in PEM form") from None
    return path


def folder(value: str) -> Path:
    return Path(value).expanduser().absolute()


def database_address(value: str) -> str:
    """Return the URL for SQLAlchemy; ``postgres://`` and ``postgresql://`` mean psycopg 3.

    Several hosts can be written for libpq, ``a:5432,b:5432``, or for SQLAlchemy,
    ``?host=a:5432&host=b:5432``.
    """
    if not value or (value.startswith("sqlite:///") and value.rstrip("/") != "sqlite:"):
        return value
    for prefix in ("postgresql+psycopg://", "postgresql://", "postgres://"):
        if value.startswith(prefix):
            return "postgresql+psycopg://" + _hosts_in_query(value.removeprefix(prefix))
    raise ValueError("must be sqlite:/// with the path of a file, or begin with postgresql://")


def stored_secret_key(path: Path) -> str:
    """Return the secret key in a file, which is created once and only readable by its owner.

    Two processes that start at once use the same key: each writes a temporary file and links it
    into place, which fails for the second.
    """
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(48))
            file.flush()
            os.fsync(descriptor)  # before anything is encrypted with it
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()


def in_instance_folder(url: str, folder: Path) -> str:
    """Make the relative path of a SQLite URL relative to the instance folder."""
    if not url.startswith("sqlite:///"):
        return url
    return f"sqlite:///{folder / url.removeprefix('sqlite:///')}"


def default_url(host: str, port: int) -> str:
    """Return the URL of a listening address; for all addresses, the URL of localhost."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not listened on
        host = "localhost"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _is_url(value: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    is_web = parts.scheme in ("http", "https")
    return parts.scheme in schemes and (not is_web or parts.hostname is not None)


def check_port(value: str) -> None:
    """Raise ValueError if a URL has a port that is no number from 1 to 65535."""
    try:
        is_valid = urlsplit(value).port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ValueError(_PORT_PROBLEM)


def host_and_port(value: str, default: int, form: str) -> tuple[str, int]:
    """Parse ``host:port``, ``[2001:db8::1]:port``, or the host alone, whose port is ``default``.

    Raises:
        ValueError: it is none of these. The message has ``form``.
    """
    match = _HOST_AND_PORT.fullmatch(value)
    port = int(match["port"] or default) if match else 0
    if match is None or not 0 < port < 65536:
        raise ValueError(f"must name its hosts as {form}")
    return match["host"].strip("[]"), port


def _hosts_in_query(address: str) -> str:
    """Rewrite ``user@a:1,b:2/name`` as ``user@/name?host=a,b&port=1,2``, and no other address."""
    match = _DATABASE_USER.match(address)
    assert match is not None
    user = match[0]
    before, mark, query = address.removeprefix(user).partition("?")
    _check_password(match["password"] or "", before + query.partition("=")[0])
    hosts, slash, name = before.partition("/")
    if "," not in hosts:
        _check_database_port(before)
        return address
    servers = [host_and_port(host, 5432, "a:5432,b:5432") for host in hosts.split(",")]
    names = ",".join(host for host, _ in servers)
    ports = ",".join(str(port) for _, port in servers)
    options = f"&{query}" if mark else ""
    return f"{user}{slash or '/'}{name}?host={names}&port={ports}{options}"


def _check_password(password: str, after: str) -> None:
    """Raise ValueError if a password is not percent-encoded: its end is in ``after``, or decoding
    changes it."""
    try:
        unquote(password, errors="strict")
        encoding = "@ written as %40" if "@" in after else None
    except UnicodeDecodeError:
        encoding = "% written as %25"
    if encoding:
        raise ValueError(
            f"must have {encoding} in its password; or leave the password out and set PGPASSWORD"
        )


def _check_database_port(server: str) -> None:
    match = _DATABASE_PORT.fullmatch(server)
    port = match["port"] if match else "?"
    if port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(_PORT_PROBLEM)


def _list_parts(value: str) -> list[str]:
    return value.replace(",", " ").split()


def _parse_origin(part: str) -> str:
    if part != "*" and not _ORIGIN.fullmatch(part):
        raise ValueError(
            "must be * or origins such as https://app.example.org, separated by commas, "
            "without a path or a slash at the end"
        )
    for scheme, port in _DEFAULT_PORTS:
        if part.startswith(scheme):
            return part.removesuffix(port)
    return part


def make_instance_folder(folder: Path) -> None:
    """Create the instance folder unless it exists.

    Raises:
        ValueError: it cannot be created, or not be written. The message is one sentence.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"INSTANCE_PATH {folder} cannot be created ({error.strerror}); name another folder."
        ) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"INSTANCE_PATH {folder} is not writable; name another folder.")


def missing_part(values: Mapping[str, Any], key_file: str) -> str | None:
    """Return in words what an instance lacks that has never been started, or None."""
    path = Path(values["database_url"].removeprefix("sqlite:///").partition("?")[0])
    folder: Path = values["instance_path"]
    if values["database_url"].startswith("sqlite:///") and not path.exists():
        return f"database at {path}"
    if not folder.is_dir():
        return f"folder {folder}, which INSTANCE_PATH names"
    makes_key = not values["secret_key"] and values["canopy_env"] != "production"
    if makes_key and not (folder / key_file).exists():
        return f"file {folder / key_file}, and SECRET_KEY is not set"
    return None
