"""What is deployed is what `kubectl apply -k fake_driver/deploy` sends, less the example, with the chosen image."""

import re
from pathlib import Path
from typing import Any

import yaml

from harness.drivers import image, manifests

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "fake_driver" / "deploy"


def by_kind(kind: str) -> list[dict[str, Any]]:
    return [obj for obj in manifests.driver("ref:1") if obj["kind"] == kind]


def test_everything_but_the_example_is_deployed() -> None:
    kustomization = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())
    files = {file: list(yaml.safe_load_all((DEPLOY / file).read_text())) for file in kustomization["resources"]}
    assert set(files) | {"kustomization.yaml"} == {path.name for path in DEPLOY.glob("*.yaml")}
    assert manifests.driver("dra-e2e.local/fake-driver") == [
        o for f, os in files.items() if f != "gpus.yaml" for o in os
    ]


def test_both_parts_get_the_image() -> None:
    for obj in (*by_kind("DaemonSet"), *by_kind("Deployment")):
        (container,) = obj["spec"]["template"]["spec"]["containers"]
        assert container["image"] == "ref:1"
    repository, _, tag = image.REFERENCE.partition(":")
    assert yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())["images"] == [
        {"name": repository, "newTag": tag}
    ]


def test_no_right_is_a_wildcard_and_only_the_controller_writes_claims() -> None:
    plugin, controller = sorted(by_kind("ClusterRole"), key=lambda role: role["metadata"]["name"], reverse=True)
    for role in (plugin, controller):
        assert "*" not in str(role["rules"])
    assert "resourceclaims/status" not in str(plugin["rules"])
    assert {
        "apiGroups": ["resource.k8s.io"],
        "resources": ["resourceclaims/driver"],
        "verbs": ["arbitrary-node:patch"],
    } in (controller["rules"])


def test_the_image_has_what_the_project_is_tested_with() -> None:
    """`make lock` keeps them together."""

    def pins(file: Path) -> set[str]:
        return set(re.findall(r"^([a-z0-9-]+==[^ ]+)", file.read_text(), re.MULTILINE))

    assert pins(DEPLOY / "requirements.txt") <= pins(ROOT / "requirements.lock")
    assert not any(pin.startswith("kubernetes") for pin in pins(DEPLOY / "requirements.txt"))
