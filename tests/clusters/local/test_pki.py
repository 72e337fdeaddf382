import base64
import stat
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store

from harness.clusters.local.pki import Authority, write_kubeconfig


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.create(tmp_path, "ca")


def verifies(authority: Authority, pem: bytes, host: str) -> bool:
    store = Store([x509.load_pem_x509_certificate(authority.certificate.read_bytes())])
    verifier = PolicyBuilder().store(store).build_server_verifier(x509.DNSName(host))
    try:
        verifier.verify(x509.load_pem_x509_certificate(pem), [])
    except x509.verification.VerificationError:
        return False
    return True


def test_a_serving_certificate_is_good_for_its_hosts_only(authority: Authority) -> None:
    pair = authority.server("kubelet", ["worker-1", "127.0.0.1"])
    assert verifies(authority, pair.certificate, "worker-1")
    assert not verifies(authority, pair.certificate, "worker-2")


def test_another_authority_is_not_trusted(authority: Authority, tmp_path: Path) -> None:
    other = Authority.create(tmp_path, "etcd-ca")
    assert not verifies(other, authority.server("etcd", ["localhost"]).certificate, "localhost")


def test_a_client_certificate_names_user_and_groups(authority: Authority) -> None:
    pair = authority.client("system:node:worker-1", ["system:nodes"])
    subject = x509.load_pem_x509_certificate(pair.certificate).subject
    assert subject.rfc4514_string() == "CN=system:node:worker-1,O=system:nodes"


def test_an_authority_can_be_used_by_another_process(authority: Authority, tmp_path: Path) -> None:
    assert verifies(authority, Authority(tmp_path, "ca").server("x", ["localhost"]).certificate, "localhost")


def test_nobody_else_can_read_keys_and_kubeconfigs(authority: Authority, tmp_path: Path) -> None:
    pair = authority.client("admin")
    config = write_kubeconfig(tmp_path / "admin.kubeconfig", "https://127.0.0.1:1", authority.certificate, pair, "me")
    for path in (authority.key, config, *pair.write(tmp_path, "admin")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    user = yaml.safe_load(config.read_text())["users"][0]["user"]
    assert base64.b64decode(user["client-key-data"]) == pair.key
