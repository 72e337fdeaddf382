"""Certificates and kubeconfigs of one cluster: its own authorities, one identity per component."""

import base64
import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from harness.clusters.private import write_private

# A kept cluster may live for weeks, a key that leaks should not live for years.
_LIFETIME = datetime.timedelta(days=60)
# Components compare with their own clock, which may be a little behind.
_BACKDATE = datetime.timedelta(hours=1)


@dataclass(frozen=True)
class KeyPair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes

    def write(self, directory: Path, name: str) -> tuple[Path, Path]:
        """Write `<name>.crt` and `<name>.key` (0600); returns both paths."""
        return (
            write_private(directory / f"{name}.crt", self.certificate),
            write_private(directory / f"{name}.key", self.key),
        )


@dataclass(frozen=True)
class Authority:
    """A certificate authority whose certificate and key lie in a directory."""

    directory: Path
    name: str

    @classmethod
    def create(cls, directory: Path, name: str) -> "Authority":
        """Make a new authority and write `<name>.crt` and `<name>.key`."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _subject(f"dra-e2e {name}", ())
        builder = _builder(subject, subject, key.public_key()).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        builder = builder.add_extension(
            x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
        ).add_extension(_key_usage(signs=True), critical=True)
        certificate = builder.sign(key, hashes.SHA256())
        KeyPair(certificate.public_bytes(serialization.Encoding.PEM), private_pem(key)).write(directory, name)
        return cls(directory, name)

    @property
    def certificate(self) -> Path:
        """The authority's certificate."""
        return self.directory / f"{self.name}.crt"

    @property
    def key(self) -> Path:
        """The authority's private key."""
        return self.directory / f"{self.name}.key"

    def client(self, user: str, groups: Sequence[str] = ()) -> KeyPair:
        """A client certificate for a Kubernetes user (CN) and its groups (O)."""
        return self._issue(_subject(user, groups), ExtendedKeyUsageOID.CLIENT_AUTH, ())

    def server(self, name: str, hosts: Sequence[str]) -> KeyPair:
        """A serving certificate for host names and addresses."""
        return self._issue(_subject(name, ()), ExtendedKeyUsageOID.SERVER_AUTH, hosts)

    @cached_property
    def _signer(self) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
        key = serialization.load_pem_private_key(self.key.read_bytes(), None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise TypeError(f"{self.key} holds no elliptic curve key")
        return x509.load_pem_x509_certificate(self.certificate.read_bytes()), key

    def _issue(self, subject: x509.Name, usage: x509.ObjectIdentifier, hosts: Sequence[str]) -> KeyPair:
        issuer, signing_key = self._signer
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _builder(subject, issuer.subject, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing_key.public_key()), critical=False)
        )
        if hosts:
            names = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
            builder = builder.add_extension(names, critical=False)
        certificate = builder.sign(signing_key, hashes.SHA256())
        return KeyPair(certificate.public_bytes(serialization.Encoding.PEM), private_pem(key))


def service_account_key(directory: Path) -> tuple[Path, Path]:
    """Make the key pair that signs service account tokens; returns the paths of the public and the private key."""
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return write_private(directory / "sa.pub", public), write_private(directory / "sa.key", private_pem(key))


def write_kubeconfig(path: Path, server: str, authority: Path, pair: KeyPair, user: str) -> Path:
    """Write a kubeconfig (0600) with everything embedded, so that it can be handed on alone."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "dra-e2e",
                "cluster": {"server": server, "certificate-authority-data": _base64(authority.read_bytes())},
            }
        ],
        "users": [
            {
                "name": user,
                "user": {
                    "client-certificate-data": _base64(pair.certificate),
                    "client-key-data": _base64(pair.key),
                },
            }
        ],
        "contexts": [{"name": "dra-e2e", "context": {"cluster": "dra-e2e", "user": user}}],
        "current-context": "dra-e2e",
    }
    return write_private(path, yaml.safe_dump(config, sort_keys=False))


def private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """The key as unencrypted PEM, in the form that every Go program reads."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATE)
        .not_valid_after(now + _LIFETIME)
    )


def _subject(user: str, groups: Sequence[str]) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def _key_usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
