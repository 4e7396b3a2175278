"""What is masked of texts that are recorded."""

from __future__ import annotations

from app.security import tokens
from app.security.masking import masked_url, without_secrets
from app.security.webhook_signing import new_secret

HOST = "https://hooks.example.org"


def test_a_url_is_masked_where_it_may_have_a_secret() -> None:
    for url, masked in (
        (f"{HOST}/in?token=s3cret&kind=a", f"{HOST}/in?token=…&kind=…"),
        (f"{HOST}?s3cret", f"{HOST}?…"),
        (f"{HOST}/in?s3cret&a=&b==c&&d", f"{HOST}/in?…&a=&b=…&&…"),
        (f"{HOST}/in?a=x?y=z/w", f"{HOST}/in?a=…"),
        (f"{HOST}/services/T000/B000/a1b2c3d4e5f6g7h8i9j0", f"{HOST}/services/T000/B000/…"),
        (f"{HOST}/01234567-89ab-cdef-0123-456789abcdef/in", f"{HOST}/…/in"),
        (f"{HOST}/canopy-events-of-all-forests/2", f"{HOST}/canopy-events-of-all-forests/2"),
        (
            "https://a-receiver-of-2026.example.org:8443",
            "https://a-receiver-of-2026.example.org:8443",
        ),
        ("", ""),
    ):
        assert masked_url(url) == masked, url


PREFIXES = [
    value for value in vars(tokens).values() if isinstance(value, str) and value[:7] == "canopy_"
]


def test_each_kind_of_token_is_listed() -> None:
    assert sorted(tokens.PREFIXES) == sorted(PREFIXES)


def test_each_kind_of_token_is_masked() -> None:
    for prefix in PREFIXES:
        token = tokens.new_token(prefix)
        assert without_secrets(f"curl ({token}, x)") == f"curl ({prefix}…, x)", prefix


def test_the_secret_of_a_webhook_is_masked() -> None:
    assert without_secrets(f"{new_secret()} {new_secret()}") == "whsec_… whsec_…"


def test_other_texts_stay_as_they_are() -> None:
    for text in ("", "canopy_exporter/1.0", "canopy_key_", "whsec_1", "canopy"):
        assert without_secrets(text) == text, text


def test_a_name_that_begins_like_one_stays() -> None:
    for name in ("canopy_gap_monitoring_2026", "canopy_job_00000001", "canopy_"):
        assert without_secrets(name) == name, name
