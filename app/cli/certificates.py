"""The certificate of ``bin/canopy webhook listen``, and its authority.

Both are made once and kept in the instance folder. The authority's key is not kept, so that
trusting the authority only means trusting this certificate, which is for this machine.
"""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from app.values import clock
from app.values.files import write_private_file

FOLDER: Final = "webhook-listen"
_LIFE: Final = timedelta(days=3650)
_NAMES: Final = [
    x509.DNSName("localhost"),
    x509.IPAddress(ip_address("127.0.0.1")),
    x509.IPAddress(ip_address("::1")),
]


class Certificates(NamedTuple):
    """The files with the certificates."""

    authority: Path
    receiver: Path  # with its key


def ensure_certificates(instance_path: Path) -> Certificates:
    """Return the certificates of this instance, and make them if there are none.

    Raises:
        OSError: the folder cannot be written.
    """
    folder = instance_path / FOLDER
    files = Certificates(folder / "ca.pem", folder / "receiver.pem")
    if not (files.authority.is_file() and files.receiver.is_file()):
        folder.mkdir(mode=0o700, exist_ok=True)
        authority, receiver = _make_certificates()
        write_private_file(files.receiver, receiver)
        write_private_file(files.authority, authority)
    return files


def _make_certificates() -> tuple[bytes, bytes]:
    """Make (the authority's certificate, the receiver's key and certificate), as PEM."""
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority_name = _common_name("Canopy webhook listen: authority")
    authority = (
        _certificate_builder(authority_name, authority_name, authority_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(key_cert_sign=True), critical=True)
    )
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    receiver = (
        _certificate_builder(
            _common_name("Canopy webhook listen"), authority_name, key.public_key()
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(_NAMES), critical=False)
        .add_extension(_key_usage(digital_signature=True), critical=True)
        .add_extension(issuer, critical=False)
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return _sign_certificate(authority, authority_key), private + _sign_certificate(
        receiver, authority_key
    )


def _certificate_builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = clock.now()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _LIFE)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _sign_certificate(builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey) -> bytes:
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _key_usage(*, digital_signature: bool = False, key_cert_sign: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=key_cert_sign,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
