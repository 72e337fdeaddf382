"""Shards of one run as Pods of a Job in the cluster that they test: how they get in, and how their reports get out."""

import io
import os
import tarfile
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from harness.errors import InfrastructureError, UsageError
from harness.kube import Client, Obj

#: Where Kubernetes puts what a Pod needs to talk to the API.
_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

#: On every part of a report; its value is the number of the shard, from 1.
SHARD = "dra-e2e/shard"
_SHARDS, _PART, _PARTS = "dra-e2e/shards", "dra-e2e/part", "dra-e2e/parts"

#: Bytes: what a ConfigMap has room for is 1 MiB, and etcd takes 1.5 MB for it in base64.
_PART_SIZE = 700_000
#: Bytes of the evidence of a shard that are worth keeping in the cluster's etcd.
_EVIDENCE = 8_000_000

_KEY = "report.tar.gz"


def kubeconfig(directory: Path, account: Path = _ACCOUNT, environment: Mapping[str, str] = os.environ) -> Path:
    """Write the kubeconfig of this Pod's service account. Raises UsageError where this is no Pod with one."""
    if "KUBERNETES_SERVICE_HOST" not in environment or not (account / "token").exists():
        raise UsageError("this is no Pod with a service account: elsewhere use pytest --provider existing")
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment["KUBERNETES_SERVICE_PORT"]
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "pod",
        "contexts": [{"name": "pod", "context": {"cluster": "pod", "user": "pod"}}],
        "clusters": [{"name": "pod", "cluster": {"server": server, "certificate-authority": str(account / "ca.crt")}}],
        "users": [{"name": "pod", "user": {"tokenFile": str(account / "token")}}],
    }
    file = directory / "kubeconfig"
    file.touch(mode=0o600)
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return file


def publish(client: Client, report: Path, shard: int, shards: int) -> None:
    """Leave a report in ConfigMaps of the client's namespace; evidence comes along as far as it is small."""
    packed = _packed(report)
    parts = [packed[start : start + _PART_SIZE] for start in range(0, len(packed), _PART_SIZE)]
    for number, part in enumerate(parts, 1):
        labels = {SHARD: str(shard), _SHARDS: str(shards), _PART: str(number), _PARTS: str(len(parts))}
        name = f"dra-e2e-report-{shard}-{number}"
        content = {"metadata": {"name": name, "labels": labels}, "binaryData": {_KEY: b64encode(part).decode()}}
        client.apply({"kind": "ConfigMap", **content})


def gather(client: Client, target: Path) -> list[Path]:
    """Unpack the reports of all shards, each in a directory of its own under `target`.

    Raises InfrastructureError where one has not come, or not whole.
    """
    found: dict[int, dict[int, Obj]] = {}
    items, _ = client.list("ConfigMap", label_selector=SHARD)
    for item in items:
        labels = item["metadata"]["labels"]
        found.setdefault(int(labels[SHARD]), {})[int(labels[_PART])] = item
    if not found:
        raise InfrastructureError(f"no shard has left a report in namespace {client.namespace} yet")
    (some, *_) = next(iter(found.values())).values()
    shards = int(some["metadata"]["labels"][_SHARDS])
    if missing := [str(shard) for shard in range(1, shards + 1) if not _whole(found.get(shard, {}))]:
        raise InfrastructureError(f"of {shards} shards these have left no report yet: {', '.join(missing)}")
    return [_unpacked(parts, target / f"shard-{shard}") for shard, parts in sorted(found.items()) if shard <= shards]


def _whole(parts: Mapping[int, Obj]) -> bool:
    return bool(parts) and len(parts) == int(next(iter(parts.values()))["metadata"]["labels"][_PARTS])


def _packed(report: Path) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for path in _kept(report):
            tar.add(path, str(path.relative_to(report)))
    return file.getvalue()


def _kept(report: Path) -> Iterator[Path]:
    """The report, and evidence until there is too much of it: the pages can be built again."""
    yield report / "report.json"
    room = _EVIDENCE
    for path in sorted((report / "evidence").rglob("*")):
        if path.is_file() and path.stat().st_size <= room:
            room -= path.stat().st_size
            yield path


def _unpacked(parts: Mapping[int, Obj], target: Path) -> Path:
    packed = b"".join(b64decode(part["binaryData"][_KEY]) for _, part in sorted(parts.items()))
    target.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as tar:
        tar.extractall(target, filter="data")
    return target
