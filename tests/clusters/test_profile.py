from pathlib import Path

import pytest

from harness import releases
from harness.clusters import profile
from harness.clusters.profile import Profile
from harness.clusters.resolution import Resolution
from harness.errors import UsageError

NEWEST = releases.get("1.37")
HEAD = "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n"


def written(directory: Path, text: str) -> Profile:
    path = directory / "mine.yaml"
    path.write_text(HEAD + text)
    return profile.load(str(path))


def start_errors(resolution: Resolution, release: releases.Release) -> list[str]:
    """What a component would refuse to start with."""
    errors = []
    for component, gates in resolution.gates.items():
        for name, value in gates.items():
            gate = release.gate(name)
            if gate is None or component in gate.unknown_to:
                errors.append(f"{component} does not know {name}")
            elif gate.locked and value != gate.default:
                errors.append(f"{name} is locked")
        for gate in release.gates.values():
            on = gates.get(gate.name, gate.default)
            needs = {need: gates.get(need, release.gates[need].default) for need in gate.needs}
            if on and not all(needs.values()):
                errors.append(f"{gate.name} of {component} needs {needs}")
    unknown = set(resolution.runtime_config) - set(release.runtime_config())
    return errors + [f"{version} is not registered" for version in unknown]


@pytest.mark.parametrize("minor", releases.supported())
@pytest.mark.parametrize("name", profile.names())
def test_every_profile_can_start_every_release(name: str, minor: str) -> None:
    release = releases.get(minor)
    assert start_errors(profile.load(name).resolve(release), release) == []


def test_the_profiles_that_come_with_the_project() -> None:
    assert profile.names() == ("defaults", "features", "off", "short-timeouts")


def test_features_serve_the_apis_that_their_gates_need() -> None:
    for minor in releases.supported():
        release = releases.get(minor)
        resolution = profile.load("features").resolve(release)
        served = set(resolution.runtime_config)
        needed = release.runtime_config("PodGroup", "Workload", "CompositePodGroup", "DeviceTaintRule")
        assert set(needed) <= served


def test_what_only_other_releases_know_is_left_out_of_a_profile_of_the_project_without_a_word() -> None:
    resolution = profile.load("features").resolve(NEWEST)
    assert "GangScheduling" not in resolution.gates["kube-scheduler"]
    assert "scheduling.k8s.io/v1alpha1" not in resolution.runtime_config
    assert resolution.unmet == ()
    assert not any("left out" in note for note in resolution.notes)


def test_what_only_other_releases_know_is_left_out_of_a_users_profile_with_a_note(tmp_path: Path) -> None:
    text = 'featureGates: {GangScheduling: true}\nruntimeConfig: {scheduling.k8s.io/v1alpha1: "true"}'
    gate, version = written(tmp_path, text).resolve(NEWEST).notes
    assert gate == "gate GangScheduling left out: Kubernetes 1.37 does not know it (known in 1.36, 1.35)"
    assert version == "API scheduling.k8s.io/v1alpha1 left out: Kubernetes 1.37 does not have it (known in 1.35)"


def test_an_unknown_gate_is_an_error_with_the_nearest_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="DRADeviceTaint'; did you mean DRADeviceTaints"):
        written(tmp_path, "featureGates: {DRADeviceTaint: true}").resolve(NEWEST)


def test_an_unknown_api_version_is_an_error_with_the_nearest_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"did you mean scheduling\.k8s\.io/v1beta1"):
        written(tmp_path, 'runtimeConfig: {scheduling.k8s.io/v1beta9: "true"}').resolve(NEWEST)


def test_a_locked_gate_cannot_be_switched_off() -> None:
    gates = {"*": ["DRAExtendedResource"]}
    resolution = profile.load("features").variation(off=gates).resolve(NEWEST)
    assert "DRAExtendedResource" not in resolution.gates["kubelet"]
    assert resolution.unmet == ("gate DRAExtendedResource left out: it is locked on in Kubernetes 1.37",)


def test_a_gate_takes_its_dependants_off_with_it() -> None:
    varied = profile.load("features").variation(off={"kube-scheduler": ["DRADeviceTaints"]})
    resolution = varied.resolve(NEWEST)
    assert resolution.gates["kube-scheduler"]["DRADeviceTaintRules"] is False
    assert resolution.gates["kube-apiserver"]["DRADeviceTaintRules"] is True
    assert "gate DRADeviceTaintRules of kube-scheduler switched off: it needs DRADeviceTaints" in resolution.notes
    assert start_errors(resolution, NEWEST) == []


def test_a_gate_takes_its_needs_on_with_it() -> None:
    varied = profile.load("defaults").variation(on={"*": ["CompositePodGroup"]})
    gates = varied.resolve(NEWEST).gates["kube-apiserver"]
    assert gates == {"CompositePodGroup": True, "GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}


def test_variations_of_the_same_difference_share_a_key() -> None:
    base = profile.load("features")
    one, other = ({"kubelet": ["DRAWorkloadResourceClaims"]}, {"kube-scheduler": ["DRAWorkloadResourceClaims"]})
    assert base.variation(off=one).key == base.variation(off=one).key
    assert len({base.key, base.variation(off=one).key, base.variation(off=other).key}) == 3


def test_a_variation_of_an_unknown_component_is_an_error() -> None:
    with pytest.raises(UsageError, match="unknown component 'kube-sheduler'"):
        profile.load("features").variation(off={"kube-sheduler": ["DRADeviceTaints"]})


def test_flags_gates_and_files_of_kubeadm_patches(tmp_path: Path) -> None:
    text = """
featureGates: {DRADeviceTaints: true}
kubeadmConfigPatches:
  - |
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: ClusterConfiguration
      scheduler:
        extraArgs: [{name: feature-gates, value: "DRADeviceTaints=false"}, {name: v, value: "5"}]
  - |
      apiVersion: kubelet.config.k8s.io/v1beta1
      kind: KubeletConfiguration
      maxPods: 7
      featureGates: {DRADeviceTaints: false}
nodes:
  - role: control-plane
  - role: worker
    labels: {zone: a}
"""
    resolution = written(tmp_path, text).resolve(NEWEST)
    taints = {component: gates["DRADeviceTaints"] for component, gates in resolution.gates.items()}
    assert taints == {
        "kube-apiserver": True,
        "kube-controller-manager": True,
        "kube-scheduler": False,
        "kubelet": False,
    }
    assert resolution.args["kube-scheduler"] == ("--v=5",)
    assert resolution.kubelet == {"maxPods": 7}
    assert resolution.workers == ({"zone": "a"},)


def test_the_scheduler_has_a_profile_per_scenario_and_one_without_claims() -> None:
    schedulers = profile.load("features").resolve(NEWEST).scheduler["profiles"]
    names = {each["schedulerName"] for each in schedulers}
    expected = {"default-scheduler", "without-dynamic-resources", *(f"dra-e2e-{number}" for number in range(16))}
    assert names == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: Pod", "no kind Cluster file"),
        ("kind: [", "no YAML"),
        ("- a", "expected a mapping"),
        ("", "no kind Cluster file"),
    ],
)
def test_a_file_that_is_no_profile(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        profile.load(str(path))


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "binary.yaml"
    path.write_bytes(b"\xff\xfe\x00kind")
    with pytest.raises(UsageError, match="is no YAML: it is not text in UTF-8"):
        profile.load(str(path))


def test_a_profile_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="choose one of defaults, features"):
        profile.load("fetures")
    with pytest.raises(UsageError, match="No such file"):
        profile.load(str(tmp_path / "none.yaml"))


def test_a_gate_that_is_neither_true_nor_false(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be true or false"):
        written(tmp_path, "featureGates: {DRADeviceTaints: maybe}").resolve(NEWEST)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("featureGates: [A]\n", "featureGates must be a mapping"),
        ("nodes: {role: worker}\n", "nodes must be a list of mappings"),
        ("kubeadmConfigPatches: [{kind: ClusterConfiguration}]\n", "kubeadmConfigPatches must be a list of texts"),
        (
            "kubeadmConfigPatches: ['{kind: KubeletConfiguration, featureGates: [A]}']\n",
            "featureGates must be a mapping",
        ),
    ],
)
def test_a_part_of_the_wrong_shape_is_told_by_its_name(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        written(tmp_path, text).resolve(NEWEST)


@pytest.mark.parametrize("count", [1, 5])
def test_any_number_of_nodes_like_the_first(tmp_path: Path, count: int) -> None:
    text = "nodes:\n- role: control-plane\n- {role: worker, labels: {zone: a}}\n- {role: worker}\n"
    mine = written(tmp_path, text)
    assert mine.with_nodes(count).resolve(NEWEST).workers == ({"zone": "a"},) * count
    assert mine.with_nodes(count).key != mine.key


def test_nodes_are_added_where_there_is_only_a_control_plane(tmp_path: Path) -> None:
    assert len(written(tmp_path, "").with_nodes(2).resolve(NEWEST).workers) == 2


def test_emulated_release_tells_its_control_plane_and_leaves_out_what_it_does_not_know() -> None:
    resolution = profile.load("features").resolve(releases.emulate("1.36"))
    for component in ("kube-apiserver", "kube-controller-manager", "kube-scheduler"):
        assert "--emulated-version=1.36" in resolution.args[component]
        assert "GenericWorkload" not in resolution.gates[component]
    assert not resolution.args["kubelet"]
    assert "GenericWorkload" not in resolution.gates["kubelet"]
    assert resolution.gates["kubelet"]["DRAExtendedResource"]
    assert "scheduling.k8s.io/v1alpha2" not in resolution.runtime_config


def test_scheduler_is_told_no_argument_that_its_release_does_not_take() -> None:
    arguments = {
        minor: profile.load("short-timeouts").resolve(releases.get(minor)).scheduler["profiles"][0]["pluginConfig"][0]
        for minor in ("1.34", "1.35")
    }
    assert arguments["1.35"]["args"]["bindingTimeout"] == "7s"
    assert "bindingTimeout" not in arguments["1.34"]["args"]
