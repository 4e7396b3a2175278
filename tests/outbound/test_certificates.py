"""Certificates: valid now, for the name, and signed by somebody who is trusted; or nothing is
sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.outbound import Egress, EgressError
from app.policy.deliveries import FailureReason
from tests.outbound.conftest import MakeEgress, MakeReceiver
from tests.outbound.receivers import Authority, Receiver


def _reason(egress: Egress, url: str) -> FailureReason:
    with pytest.raises(EgressError) as failed:
        egress.post(url, b"{}", {}, seconds=60)
    assert failed.value.timing.wait_ms is None
    return failed.value.reason


@pytest.mark.parametrize(
    ("names", "options", "host", "reason"),
    [
        (["*.example"], {}, "a.hook.example", FailureReason.WRONG_NAME),
        ([], {"common_name": "hook.example"}, "hook.example", FailureReason.WRONG_NAME),
        (["hook.example"], {"days": (-2, -1)}, "hook.example", FailureReason.EXPIRED),
        (["hook.example"], {"days": (1, 2)}, "hook.example", FailureReason.EXPIRED),
        (["hook.example"], {"self_signed": True}, "hook.example", FailureReason.UNTRUSTED),
    ],
)
def test_a_bad_certificate(
    egress: Egress,
    make_receiver: MakeReceiver,
    authority: Authority,
    names: list[str],
    options: dict[str, object],
    host: str,
    reason: FailureReason,
) -> None:
    certificate = authority.certificate_for(names, **options)  # type: ignore[arg-type]
    receiver = make_receiver(certificate)
    assert _reason(egress, receiver.url(host=host)) is reason
    assert receiver.requests == []


def test_an_unknown_authority(egress: Egress, make_receiver: MakeReceiver, tmp_path: Path) -> None:
    receiver = make_receiver(Authority(tmp_path).certificate_for(["localhost"]))
    assert _reason(egress, receiver.url()) is FailureReason.UNTRUSTED


def test_a_wildcard_for_one_label_is_valid(
    egress: Egress, make_receiver: MakeReceiver, authority: Authority
) -> None:
    receiver = make_receiver(authority.certificate_for(["*.hook.example"]))
    assert egress.post(receiver.url(host="a.hook.example"), b"", {}).status == 200


def test_without_a_file_the_system_authorities_are_used(
    make_egress: MakeEgress, receiver: Receiver
) -> None:
    egress = make_egress(ca_bundle=None)
    assert _reason(egress, receiver.url()) is FailureReason.UNTRUSTED


def test_a_file_is_trusted_besides_the_system_authorities(
    make_egress: MakeEgress,
    make_receiver: MakeReceiver,
    receiver: Receiver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(system.ca_path))
    egress = make_egress()
    public = make_receiver(system.certificate_for(["localhost"]))
    for each in (receiver, public):
        assert egress.post(each.url(), b"", {}).status == 200


def test_an_authority_without_key_usage(
    make_egress: MakeEgress, make_receiver: MakeReceiver, tmp_path: Path
) -> None:
    """As ``openssl req -x509`` makes one; Python's default since 3.13 refuses it."""
    own = Authority(tmp_path, has_key_usage=False)
    receiver = make_receiver(own.certificate_for(["localhost"]))
    assert make_egress(ca_bundle=own.ca_path).post(receiver.url(), b"", {}).status == 200


def test_an_invalid_file_of_authorities(make_egress: MakeEgress, tmp_path: Path) -> None:
    (tmp_path / "empty.pem").touch()
    for name in ("empty.pem", "absent.pem"):
        with pytest.raises(OSError, match=r".+"):
            make_egress(ca_bundle=tmp_path / name)
