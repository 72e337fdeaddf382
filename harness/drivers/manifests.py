"""The manifests of fake_driver/deploy, as `kubectl apply -k` would send them."""

from importlib import resources
from typing import Any

import yaml

from harness.kube import Obj

#: Where all of it is.
NAMESPACE = "dra-e2e-driver"

#: The Secret with the token of those who may steer.
STEERING = "steering"

#: What a scenario has no use for: drivers that nobody asked for.
_EXAMPLES = ("gpus.yaml",)


def namespace() -> Obj:
    """What has to be there before the token can be."""
    (found,) = _read("namespace.yaml")
    return found


def steering(token: str) -> Obj:
    """The Secret with the token."""
    return {"kind": "Secret", "metadata": {"name": STEERING, "namespace": NAMESPACE}, "stringData": {"token": token}}


def driver(image: str) -> list[Obj]:
    """Plugin, controller and their rights, without any driver to serve."""
    files = yaml.safe_load(_text("kustomization.yaml"))["resources"]
    objects = [each for file in files if file not in _EXAMPLES for each in _read(file)]
    for each in objects:
        for container in _containers(each):
            container["image"] = image
    return objects


def _containers(obj: Obj) -> list[dict[str, Any]]:
    template = obj.get("spec", {}).get("template", {})
    found: list[dict[str, Any]] = template.get("spec", {}).get("containers", [])
    return found


def _read(file: str) -> list[Obj]:
    return [each for each in yaml.safe_load_all(_text(file)) if each]


def _text(file: str) -> str:
    return resources.files("fake_driver").joinpath("deploy", file).read_text(encoding="utf-8")
