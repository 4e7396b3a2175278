"""The certificate of ``bin/canopy webhook listen``."""

from __future__ import annotations

import ssl
from pathlib import Path

from cryptography import x509

from app.cli.certificates import ensure_certificates


def test_the_certificates_are_made_once_and_are_their_owners_alone(tmp_path: Path) -> None:
    made = ensure_certificates(tmp_path)
    contents = [path.read_bytes() for path in made]
    assert ensure_certificates(tmp_path) == made
    assert [path.read_bytes() for path in made] == contents
    assert {path.stat().st_mode & 0o777 for path in made} == {0o600}
    assert made.authority.parent.stat().st_mode & 0o777 == 0o700


def test_the_key_of_the_authority_is_not_kept(tmp_path: Path) -> None:
    made = ensure_certificates(tmp_path)
    assert sorted(made.authority.parent.iterdir()) == sorted(made)
    assert b"PRIVATE KEY" not in made.authority.read_bytes()
    assert made.receiver.read_bytes().count(b"PRIVATE KEY") == 2  # begin and end of its own


def test_the_certificate_is_for_this_machine_and_signs_no_other(tmp_path: Path) -> None:
    made = ensure_certificates(tmp_path)
    receiver = x509.load_pem_x509_certificates(made.receiver.read_bytes())[0]
    (authority,) = x509.load_pem_x509_certificates(made.authority.read_bytes())
    receiver.verify_directly_issued_by(authority)
    names = receiver.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(name.value) for name in names] == ["localhost", "127.0.0.1", "::1"]
    assert not receiver.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_a_client_that_trusts_the_authority_is_strict_about_it(tmp_path: Path) -> None:
    made = ensure_certificates(tmp_path)
    context = ssl.create_default_context(cafile=str(made.authority))
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(made.receiver)
    mine, theirs = (ssl.MemoryBIO() for _ in range(2))
    client = context.wrap_bio(mine, theirs, server_hostname="127.0.0.1")
    answering = server.wrap_bio(theirs, mine, server_side=True)
    for step in (client, answering, client, answering):
        try:
            step.do_handshake()
        except ssl.SSLWantReadError:
            continue
    assert client.getpeercert()
