"""The port, and whether the service knows by which protocol PUBLIC_URL was reached."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from app.doctor.checks import addresses
from app.doctor.findings import Finding, Status
from config import load_settings
from tests.outbound.conftest import MakeReceiver, authority, certificate, make_receiver, stack
from tests.outbound.receivers import Authority, PlainReceiver, answering
from tests.ports import free_port

__all__ = ["authority", "certificate", "make_receiver", "stack"]


def of_port(folder: Path, port: int) -> Finding:
    (found,) = addresses.check_port(
        load_settings({"INSTANCE_PATH": str(folder), "PORT": str(port)})
    )
    return found


def test_a_port_that_is_free(tmp_path: Path) -> None:
    found = of_port(tmp_path, free_port())
    assert (found.status, "is free" in found.found) == (Status.OK, True)


def test_a_port_on_which_the_service_runs(tmp_path: Path, certificate: Path) -> None:
    with PlainReceiver(certificate) as service:
        found = of_port(tmp_path, service.port)
        assert found.status is Status.OK
        assert found.found == f"a service responds at http://127.0.0.1:{service.port}"
        assert [request.path for request in service.requests] == ["/healthz"]


def test_a_port_that_another_program_has(
    tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "SECONDS", 0.2)
    with PlainReceiver(certificate) as other, socket.create_server(("127.0.0.1", 0)) as silent:
        other.answer = answering(404)
        for port in (other.port, silent.getsockname()[1]):
            found = of_port(tmp_path, port)
            assert found.status is Status.WARNING
            assert found.found.startswith(f"Port {port} is in use, but not by")


def of_public_url(folder: Path, url: str) -> Finding:
    settings = load_settings({"INSTANCE_PATH": str(folder), "PUBLIC_URL": url})
    (found,) = addresses.public_url(settings)
    return found


@pytest.mark.parametrize(
    ("status", "headers", "words"),
    [
        (200, {"Strict-Transport-Security": "max-age=1"}, ""),
        (200, {}, "the service was told of http"),
        (404, {}, "/healthz responds with 404"),
    ],
)
def test_what_a_proxy_says(
    tmp_path: Path,
    make_receiver: MakeReceiver,
    authority: Authority,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    headers: dict[str, str],
    words: str,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.ca_path))
    receiver = make_receiver()
    receiver.answer = answering(status, headers=headers)
    found = of_public_url(tmp_path, receiver.url(path=""))
    assert words in found.found
    assert found.status is (Status.WARNING if words else Status.OK)


def test_a_proxy_that_leads_to_https(tmp_path: Path, certificate: Path) -> None:
    with PlainReceiver(certificate) as proxy:
        proxy.answer = answering(301, headers={"Location": "https://c.example/healthz"})
        found = of_public_url(tmp_path, proxy.url(path=""))
    assert "responds with 301, and leads to https://c.example/healthz" in found.found


def test_an_address_that_does_not_respond(tmp_path: Path) -> None:
    found = of_public_url(tmp_path, f"http://127.0.0.1:{free_port()}")
    assert "does not respond to this machine" in found.found
    assert found.status is Status.WARNING
