"""The check of the OpenID Connect provider."""

from __future__ import annotations

from collections.abc import Iterator

from app.doctor.findings import Finding, ok, problem, warning
from app.people.single_sign_on.interface import ProviderFailed
from app.people.single_sign_on.provider import CALLBACK, OpenIDProvider
from config import Settings


def check_provider(settings: Settings) -> Iterator[Finding]:
    """Check that the provider's metadata and keys can be read, and belong to the issuer."""
    if settings.oidc_issuer is None:
        yield ok("OIDC_ISSUER is unset: people sign in with passwords")
        return
    try:
        OpenIDProvider(settings).check()
    except ProviderFailed as failure:
        advice = "Compare OIDC_ISSUER with what the provider names as its issuer, and look whether "
        advice += "this machine reaches it."
        if not settings.password_sign_in:
            advice += " Until then, set PASSWORD_SIGN_IN=true, so that people can sign in."
        yield problem(f"{settings.oidc_issuer}: {failure}", advice)
    else:
        yield ok(
            f"{settings.oidc_issuer} can be read; its redirect URI for this instance is "
            f"{settings.public_url}{CALLBACK}"
        )
    if settings.oidc_email_claim == "email" or settings.oidc_domains:
        return
    yield warning(
        f"OIDC_EMAIL_CLAIM is {settings.oidc_email_claim}, a claim that no provider marks as "
        "verified, and OIDC_DOMAINS allows any domain",
        "Set OIDC_DOMAINS to the domains that the provider gives out.",
    )
