"""What the doctor says about single sign-on."""

from __future__ import annotations

from flask import Flask

from app.doctor.checks import single_sign_on
from app.doctor.findings import Finding, Status
from config import load_settings
from tests.doctor.test_doctor import environ_of
from tests.people.single_sign_on.fake_provider import fake_provider

SETTINGS = {"OIDC_CLIENT_ID": "canopy", "OIDC_CLIENT_SECRET": "a secret of the tests"}


def findings(app: Flask, issuer: str, **environ: str) -> list[Finding]:
    own = {"OIDC_ISSUER": issuer, **SETTINGS, **environ} if issuer else {}
    return list(single_sign_on.check_provider(load_settings(environ_of(app) | own)))


def test_without_a_provider(sqlite: Flask) -> None:
    (found,) = findings(sqlite, "")
    assert found.status is Status.OK


def test_a_provider_that_can_be_read(sqlite: Flask) -> None:
    with fake_provider() as provider:
        (found,) = findings(sqlite, provider.issuer)
    assert found.status is Status.OK
    assert "/login/single-sign-on/callback" in found.found


def test_an_issuer_that_is_written_differently(sqlite: Flask) -> None:
    with fake_provider() as provider:
        (found,) = findings(sqlite, f"{provider.issuer}/")
    assert found.status is Status.PROBLEM
    assert f"the provider calls itself '{provider.issuer}'" in found.found


def test_a_provider_that_is_down_locks_people_out(sqlite: Flask) -> None:
    with fake_provider() as gone:
        pass
    (found,) = findings(sqlite, gone.issuer, PASSWORD_SIGN_IN="false")
    assert found.status is Status.PROBLEM
    assert "PASSWORD_SIGN_IN=true" in found.advice


def test_a_claim_that_nobody_verifies_needs_domains(sqlite: Flask) -> None:
    with fake_provider() as provider:
        *_, found = findings(sqlite, provider.issuer, OIDC_EMAIL_CLAIM="upn")
        assert found.status is Status.WARNING
        (found,) = findings(
            sqlite, provider.issuer, OIDC_EMAIL_CLAIM="upn", OIDC_DOMAINS="woods.example"
        )
        assert found.status is Status.OK
