"""Checks of Python, the installed packages, the settings, and the instance folder."""

from __future__ import annotations

import re
import shutil
import stat
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

from app.doctor.findings import Finding, ok, problem, warning
from app.settings.plans import plans_of
from app.site.static_files import HOW_TO_MAKE, missing_files
from app.values.command_name import canopy_command, has_scripts
from config import ROOT, SECRET_KEY_FILE, Settings

LOCK_FILE: Final = ROOT / "requirements.txt"
_LOCKED: Final = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;]+) *(;?)", re.MULTILINE | re.ASCII)

# Networks of this machine and its link, by version of IP.
_OWN: Final[dict[int, tuple[Any, ...]]] = {
    4: tuple(map(ip_network, ("0.0.0.0/32", "127.0.0.0/8", "169.254.0.0/16"))),
    6: tuple(map(ip_network, ("::/128", "::1/128", "fe80::/10"))),
}
_GIGABYTE: Final = 1024**3
_LITTLE_SPACE: Final = _GIGABYTE
_NO_SPACE: Final = _GIGABYTE // 10


def python_version() -> Iterator[Finding]:
    yield ok("Python " + ".".join(map(str, sys.version_info[:3])))


def check_dependencies(lock_file: Path = LOCK_FILE) -> Iterator[Finding]:
    """Check that every package of the lock file is installed in a listed version. There may be
    several for different versions of Python, and packages for other systems."""
    locked: dict[str, list[str]] = {}
    conditional: set[str] = set()
    for name, pin, condition in _LOCKED.findall(lock_file.read_text()):
        locked.setdefault(name, []).append(pin)
        if condition:
            conditional.add(name)
    faults = [
        f"{name} is {installed or 'missing'} instead of {' or '.join(pins)}"
        for name, pins in locked.items()
        if (installed := _installed_version(name)) not in pins
        and (installed or name not in conditional)
    ]
    if faults:
        yield problem(
            "; ".join(faults),
            "Run bin/canopy --help, which installs them, and restart the service."
            if has_scripts()
            else "Install requirements.txt, and restart the service.",
        )
    else:
        yield ok(f"{len(locked)} packages in their locked versions")


def made_files() -> Iterator[Finding]:
    """Check for the files that set-up makes for the pages."""
    missing = missing_files()
    yield warning(missing, HOW_TO_MAKE) if missing else ok("the pages have maps and guides")


def check_settings(settings: Settings) -> Iterator[Finding]:
    """Report settings that are valid, but risky or useless together."""
    yield ok(f"CANOPY_ENV={settings.canopy_env}, PUBLIC_URL={settings.public_url}")
    if settings.production and not settings.is_https:
        yield warning(
            f"CANOPY_ENV=production with PUBLIC_URL={settings.public_url}",
            "Put a proxy with TLS in front, and set PUBLIC_URL to its https address.",
        )
    if settings.rate_limit_disabled:
        yield warning(
            "RATE_LIMIT_DISABLED=true: requests are not limited, not even those that guess keys",
            "Unset it.",
        )
    if settings.is_https and not settings.trusted_proxies:
        yield warning(
            "PUBLIC_URL is https, so there is a proxy in front, but TRUSTED_PROXIES is 0: all "
            "clients appear to have the proxy's address. They share one limit, and allowlists "
            "cannot tell them apart",
            "Set TRUSTED_PROXIES to the number of proxies.",
        )
    if settings.trusted_proxies and settings.host not in ("127.0.0.1", "::1", "localhost"):
        yield warning(
            f"TRUSTED_PROXIES={settings.trusted_proxies} and HOST={settings.host}: anyone who "
            "reaches the port without the proxy can forge their address",
            "Make sure that only the proxy can reach the port, or set TRUSTED_PROXIES=0.",
        )
    if (settings.chat_base_url is None) != (settings.chat_model is None):
        yield warning(
            "Only one of CHAT_BASE_URL and CHAT_MODEL is set, so there is no chat",
            "Set both, or neither.",
        )
    if settings.support_email is None:
        sentence = (
            "SUPPORT_EMAIL is unset: pages name nobody to ask, and there is no "
            "/.well-known/security.txt for who finds a weakness"
        )
        advice = "Set it to an address that somebody reads."
        yield warning(sentence, advice) if settings.production else ok(sentence)
    if settings.production and settings.sign_up == "open":
        yield ok("SIGN_UP=open: anybody can sign up and create accounts")
    if settings.webhook_allowed_networks:
        yield _allowed_networks(settings)


def check_plans(settings: Settings) -> Iterator[Finding]:
    """Say which plans there are."""
    names = plans_of(settings.plans_file, settings.default_plan)
    yield ok(f"{', '.join(names)}; new accounts are on {settings.default_plan}")


def check_instance_folder(settings: Settings) -> Iterator[Finding]:
    """Check that only their owner can open the instance folder and the key."""
    folder, key = settings.instance_path, settings.instance_path / SECRET_KEY_FILE
    mode = _file_permissions(folder)
    faults = []
    if mode & 0o022:
        faults.append(problem(f"Other users can write to {folder}", f"chmod 700 {folder}"))
    elif mode & 0o077:
        faults.append(warning(f"Other users can open {folder}", f"chmod 700 {folder}"))
    if key.exists() and _file_permissions(key) & 0o077:
        change = f"{canopy_command()} secret-key"
        advice = f"chmod 600 {key}; if others use this machine, change it with {change}."
        faults.append(problem(f"Other users can read {key}", advice))
    yield from faults or [ok(str(folder))]


def check_disk(settings: Settings) -> Iterator[Finding]:
    free = shutil.disk_usage(settings.instance_path).free
    space = f"{free / _GIGABYTE:,.1f} GB free in {settings.instance_path}"
    if free < _NO_SPACE:
        yield problem(space, "Free some space at once: the database cannot grow.")
    elif free < _LITTLE_SPACE:
        yield warning(space, "Free some space.")
    else:
        yield ok(space)


def _allowed_networks(settings: Settings) -> Finding:
    """Report the private networks that webhooks can reach."""
    networks = settings.webhook_allowed_networks
    sentence = (
        f"WEBHOOK_ALLOWED_NETWORKS={','.join(map(str, networks))}: admins of every account can "
        "have requests sent to addresses in these networks"
    )
    if not settings.production:
        return ok(sentence)
    if any(own.overlaps(network) for network in networks for own in _OWN[network.version]):
        return problem(
            f"{sentence}, which include this machine's own",
            "Unset it, or name only networks of receivers that every account may reach.",
        )
    if settings.sign_up == "open":
        return warning(sentence, "Set SIGN_UP=invited, so that not everybody can have an account.")
    return ok(sentence)


def _installed_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _file_permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
