import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harness import releases
from harness.clusters import profile
from harness.clusters.kind.node_image import PROGRAMS, Inputs
from harness.programs import Program


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    programs = {name: Program(name, tmp_path / name, "v1", f"sum-{name}", "built") for name in PROGRAMS}
    recipe = tmp_path / "recipe"
    shutil.copytree(profile.directory() / "node-image", recipe)
    return Inputs(releases.get("1.37"), programs, tmp_path / "kind", recipe)


def test_the_same_inputs_have_the_same_tag(inputs: Inputs) -> None:
    assert inputs.tag == replace(inputs).tag


def test_another_program_makes_another_image_of_the_same_debian(inputs: Inputs) -> None:
    kubelet = replace(inputs.programs["kubelet"], sha256="other")

    other = replace(inputs, programs={**inputs.programs, "kubelet": kubelet})

    assert other.tag != inputs.tag
    assert other.base_digest == inputs.base_digest


def test_another_package_makes_another_debian(inputs: Inputs) -> None:
    before = (inputs.base_digest, inputs.tag)

    (inputs.recipe / "packages.txt").write_text("jq\n")

    assert inputs.packages == ("jq",)
    assert inputs.base_digest != before[0]
    assert inputs.tag != before[1]


def test_a_changed_dockerfile_makes_another_image(inputs: Inputs) -> None:
    before = inputs.tag

    with (inputs.recipe / "node.Dockerfile").open("a") as file:
        file.write("# more\n")

    assert inputs.tag != before


def test_components_are_named_as_kubeadm_names_them(inputs: Inputs) -> None:
    names = {component.name for component in inputs.components()}

    assert {"registry.k8s.io/etcd:3.7.0-0", "registry.k8s.io/coredns/coredns:v1.14.6"} <= names
    assert {"registry.k8s.io/kube-scheduler:v1.37.2", "registry.k8s.io/pause:3.10.2"} <= names
    assert all((inputs.recipe / f"{each.dockerfile}.Dockerfile").exists() for each in inputs.components())
