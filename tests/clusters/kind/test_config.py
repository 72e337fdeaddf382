from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import releases
from harness.clusters import profile
from harness.clusters.kind import config
from harness.clusters.kind.config import Wanted


def _document(directory: Path, minor: str = "1.37", **changes: Any) -> dict[str, Any]:
    resolution = (
        profile.load("features").variation(off={"kube-scheduler": ["DRADeviceTaints"]}).resolve(releases.get(minor))
    )
    given: dict[str, Any] = {"args": {}, "replaced": {}, "cgroup_v1": False, "restrict_oom_scores": False}
    path = config.write(Wanted(resolution, **{**given, **changes}), directory)
    document: dict[str, Any] = yaml.safe_load(path.read_text())
    return document


def _patch(document: dict[str, Any], kind: str, version: str) -> dict[str, Any]:
    patches = [yaml.safe_load(text) for text in document["kubeadmConfigPatches"]]
    return next(each for each in patches if each["kind"] == kind and each["apiVersion"].endswith(version))


def _args(section: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in section["extraArgs"]}


def test_each_component_gets_its_own_gates(tmp_path: Path) -> None:
    cluster = _patch(_document(tmp_path), "ClusterConfiguration", "v1beta4")

    assert "DRADeviceTaints=false" in _args(cluster["scheduler"])["feature-gates"]
    assert "DRADeviceTaints=true" in _args(cluster["apiServer"])["feature-gates"]


def test_both_versions_of_the_kubeadm_api_say_the_same(tmp_path: Path) -> None:
    document = _document(tmp_path, args={"kube-scheduler": ["--v=5"]})

    old, new = (_patch(document, "ClusterConfiguration", version) for version in ("v1beta3", "v1beta4"))

    assert old["scheduler"]["extraArgs"] == _args(new["scheduler"])
    assert old["scheduler"]["extraArgs"]["v"] == "5"


def test_everything_listens_on_loopback_only(tmp_path: Path) -> None:
    document = _document(tmp_path)

    mappings = [mapping for node in document["nodes"] for mapping in node.get("extraPortMappings", ())]
    assert {mapping["listenAddress"] for mapping in mappings} == {"127.0.0.1"}
    assert document["networking"]["apiServerAddress"] == "127.0.0.1"


@pytest.mark.parametrize("old_host", [True, False])
def test_a_host_gets_what_it_needs_and_no_more(tmp_path: Path, old_host: bool) -> None:
    document = _document(tmp_path, cgroup_v1=old_host, restrict_oom_scores=old_host)

    kubelet = _patch(document, "KubeletConfiguration", "v1beta1")
    assert kubelet.get("failCgroupV1") == (False if old_host else None)
    assert bool(document["containerdConfigPatches"]) == old_host


def test_programs_of_the_user_take_the_place_of_the_image_s(tmp_path: Path) -> None:
    replaced = {name: Path("/opt") / name for name in ("kubelet", "kube-scheduler", "etcd")}

    document = _document(tmp_path, replaced=replaced)

    control_plane, worker = document["nodes"][0], document["nodes"][1]
    mounts = {mount["hostPath"]: mount["containerPath"] for mount in control_plane["extraMounts"]}
    volumes = _patch(document, "ClusterConfiguration", "v1beta4")["scheduler"]["extraVolumes"]
    program = next(volume for volume in volumes if volume["mountPath"] == "/usr/local/bin/kube-scheduler")
    assert program["hostPath"] == mounts["/opt/kube-scheduler"]
    assert "/opt/kubelet" in {mount["hostPath"] for mount in worker["extraMounts"]}
    assert _patch(document, "InitConfiguration", "v1beta4")["patches"]["directory"] in mounts.values()


def test_files_for_nodes_are_private(tmp_path: Path) -> None:
    document = _document(tmp_path)

    files = [Path(mount["hostPath"]) for node in document["nodes"] for mount in node["extraMounts"]]
    assert all(path.exists() for path in files)
    assert not any(path.stat().st_mode & 0o077 for path in files)
