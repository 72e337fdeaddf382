import secrets
import stat
from base64 import b64decode
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from harness.errors import InfrastructureError, UsageError
from harness.kube import Client
from harness.matrix import in_cluster


class ConfigMaps:
    """As much of an API server as parts of a report are left in."""

    namespace = "dra-e2e-suite"

    def __init__(self) -> None:
        self.items: dict[str, dict[str, Any]] = {}

    def apply(self, obj: dict[str, Any]) -> None:
        self.items[obj["metadata"]["name"]] = obj

    def list(self, kind: str, *, label_selector: str) -> tuple[list[dict[str, Any]], str]:
        assert kind == "ConfigMap"
        return [item for item in self.items.values() if label_selector in item["metadata"]["labels"]], "1"


@pytest.fixture
def cluster() -> ConfigMaps:
    return ConfigMaps()


def client(cluster: ConfigMaps) -> Client:
    return cast(Client, cluster)


def report(directory: Path, text: str = "{}", **evidence: bytes) -> Path:
    (directory / "evidence").mkdir(parents=True)
    (directory / "report.json").write_text(text)
    for name, content in evidence.items():
        (directory / "evidence" / name).write_bytes(content)
    return directory


def test_what_a_shard_leaves_is_gathered(cluster: ConfigMaps, tmp_path: Path) -> None:
    for shard in (1, 2):
        made = report(tmp_path / f"made-{shard}", f'{{"shard": {shard}}}', events=b"seen")
        in_cluster.publish(client(cluster), made, shard, 2)
    one, two = in_cluster.gather(client(cluster), tmp_path / "gathered")
    assert (one / "report.json").read_text() == '{"shard": 1}'
    assert (two / "evidence" / "events").read_bytes() == b"seen"


def test_no_part_is_larger_than_a_config_map_takes(cluster: ConfigMaps, tmp_path: Path) -> None:
    noise = secrets.token_bytes(2_000_000)
    in_cluster.publish(client(cluster), report(tmp_path / "made", big=noise), 1, 1)
    sizes = [len(b64decode(item["binaryData"]["report.tar.gz"])) for item in cluster.items.values()]
    assert len(sizes) == 3
    assert max(sizes) < 2**20
    (only,) = in_cluster.gather(client(cluster), tmp_path / "gathered")
    assert (only / "evidence" / "big").read_bytes() == noise


def test_too_much_evidence_stays_away(cluster: ConfigMaps, tmp_path: Path) -> None:
    in_cluster.publish(client(cluster), report(tmp_path / "made", huge=b"0" * 9_000_000, small=b"1"), 1, 1)
    (only,) = in_cluster.gather(client(cluster), tmp_path / "gathered")
    assert [path.name for path in (only / "evidence").iterdir()] == ["small"]


def test_a_shard_that_is_missing_is_told(cluster: ConfigMaps, tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="no shard has left a report in namespace dra-e2e-suite yet"):
        in_cluster.gather(client(cluster), tmp_path / "gathered")
    in_cluster.publish(client(cluster), report(tmp_path / "made"), 2, 3)
    with pytest.raises(InfrastructureError, match="of 3 shards these have left no report yet: 1, 3"):
        in_cluster.gather(client(cluster), tmp_path / "gathered")


def test_kubeconfig_of_a_pod(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret")
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    file = in_cluster.kubeconfig(tmp_path, tmp_path, environment)
    content = yaml.safe_load(file.read_text())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert content["clusters"][0]["cluster"]["server"] == "https://[fd00::1]:443"
    assert "secret" not in file.read_text()


def test_elsewhere_than_in_a_pod(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no Pod with a service account"):
        in_cluster.kubeconfig(tmp_path, tmp_path, {})
