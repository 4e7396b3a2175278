"""The settings of single sign-on with OpenID Connect, and their parsers.

Errors are as in ``app.settings.values``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from app.settings.mail import is_loopback
from app.settings.values import boolean, line, optional, setting

_DOMAIN = re.compile(r"\A[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+")
_CLAIM = re.compile(r"[A-Za-z0-9_.:/-]{1,100}")
_NEEDED = ("oidc_issuer", "oidc_client_id", "oidc_client_secret")


def issuer(value: str) -> str | None:
    """Check the issuer, which must be as the provider writes it, to the letter."""
    if not value:
        return None
    try:
        url = urlsplit(value)
        host, _ = url.hostname or "", url.port
    except ValueError:
        host = ""
    is_https = bool(host) and url.scheme == "https"
    is_local = bool(host) and url.scheme == "http" and is_loopback(host)
    is_plain = value.isascii() and value.isprintable() and " " not in value and len(value) <= 500
    if not (is_https or is_local) or not is_plain or "@" in url.netloc or set(value) & set("?#"):
        raise ValueError(
            "must be the https address that the provider names as its issuer, without a user, a "
            "query or a fragment; http is possible on this machine only"
        )
    return value


def claim_name(value: str) -> str:
    """Check the name of a claim of the identity provider."""
    if not _CLAIM.fullmatch(value):
        raise ValueError("must be the name of a claim, such as email or upn")
    return value


def domains(value: str) -> frozenset[str]:
    """Parse domains of addresses, in lower case."""
    names = frozenset(value.replace(",", " ").lower().split())
    if not all(map(_DOMAIN.fullmatch, names)):
        raise ValueError(
            "must be domains such as example.org, separated by commas; one of another script as "
            "xn--…"
        )
    return names


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleSignOnSettings:
    """The part of ``config.Settings`` about single sign-on."""

    oidc_issuer: str | None = setting(
        "", issuer, "OpenID Connect provider for single sign-on; unset: no single sign-on"
    )
    oidc_client_id: str | None = setting("", optional, "id of this instance at the provider")
    oidc_client_secret: str | None = setting(
        "", optional, "secret of this instance at the provider"
    )
    oidc_name: str = setting(
        "single sign-on", line(64), "name of the provider, on the button to sign in"
    )
    oidc_email_claim: str = setting(
        "email",
        claim_name,
        "claim with the address of a person; you vouch for any other than `email`",
    )
    oidc_domains: frozenset[str] = setting(
        "", domains, "domains of addresses that may begin to use single sign-on; unset: any"
    )
    password_sign_in: bool = setting(
        "true", boolean, "`false`: people sign in with single sign-on only"
    )


def check_single_sign_on(values: Mapping[str, Any]) -> None:
    """Check settings that depend on each other.

    Raises:
        ValueError: they do not fit. The message is one sentence that names them.
    """
    missing = [name.upper() for name in _NEEDED if not values[name]]
    if missing and len(missing) < len(_NEEDED):
        raise ValueError(f"{' and '.join(missing)} must be set too, for single sign-on.")
    if missing and (values["oidc_domains"] or values["oidc_email_claim"] != "email"):
        raise ValueError("OIDC_DOMAINS and OIDC_EMAIL_CLAIM need OIDC_ISSUER.")
    if missing and not values["password_sign_in"]:
        raise ValueError("PASSWORD_SIGN_IN=false needs OIDC_ISSUER, or nobody could sign in.")
    is_http = str(values["oidc_issuer"]).startswith("http:")
    if is_http and values["canopy_env"] == "production":
        raise ValueError("OIDC_ISSUER must begin with https:// with CANOPY_ENV=production.")
