"""A certificate authority for tests, and the certificates that it gives."""

from __future__ import annotations

import datetime
import ipaddress
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

VALID_NOW = (-2, 2)  # days from now that a certificate begins and ends


class Authority:
    """An authority that nobody knows but who is given ``ca_path``."""

    def __init__(self, folder: Path, *, has_key_usage: bool = True) -> None:
        self._folder = folder
        self._numbers = itertools.count()
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named("Test authority")
        builder = _builder(self._name, self._name, self._key, VALID_NOW)
        is_authority = x509.BasicConstraints(ca=True, path_length=None)
        builder = builder.add_extension(is_authority, critical=True)
        if has_key_usage:
            usage = _usage(key_cert_sign=True, crl_sign=True)
            builder = builder.add_extension(usage, critical=True)
        self._certificate = self._sign(builder, self._key)
        self.ca_path = folder / "authority.pem"
        self.ca_path.write_bytes(_pem(self._certificate))

    def certificate_for(
        self,
        names: Sequence[str],
        *,
        days: tuple[int, int] = VALID_NOW,
        self_signed: bool = False,
        common_name: str = "Test receiver",
    ) -> Path:
        """A file with a key and a certificate for names and addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _named(common_name)
        builder = _builder(subject, subject if self_signed else self._name, key, days)
        if names:
            alternatives = x509.SubjectAlternativeName([_alternative(name) for name in names])
            builder = builder.add_extension(alternatives, critical=False)
        certificate = self._sign(builder, key if self_signed else self._key)
        file = self._folder / f"receiver-{next(self._numbers)}.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + _pem(certificate)
        )
        return file

    def _sign(self, builder: x509.CertificateBuilder, key: Any) -> x509.Certificate:
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())
        return builder.add_extension(issuer, critical=False).sign(key, hashes.SHA256())


def make_authority(folder: Path) -> Authority:
    """An authority that keeps its files in a folder."""
    return Authority(folder)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: Any, days: tuple[int, int]
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    begins, ends = (now + datetime.timedelta(days=number) for number in days)
    public = key.public_key()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )


def _usage(**given: bool) -> x509.KeyUsage:
    names = (
        "digital_signature content_commitment key_encipherment data_encipherment key_agreement "
        "key_cert_sign crl_sign encipher_only decipher_only"
    )
    return x509.KeyUsage(**{**dict.fromkeys(names.split(), False), **given})


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
