import subprocess
import sys

import pytest

from harness.explain.selectors import evaluate

DEVICE = {
    "name": "gpu-0",
    "attributes": {
        "model": {"string": "A"},
        "index": {"int": 3},
        "good": {"bool": True},
        "driverVersion": {"version": "1.2.3"},
        "resource.kubernetes.io/pcieRoot": {"string": "pci0"},
    },
    "capacity": {"memory": {"value": "80Gi"}},
}
OWN = "device.attributes['gpu.example.com']"


@pytest.mark.parametrize(
    ("expression", "matched"),
    [
        ("device.driver == 'gpu.example.com'", True),
        (f"{OWN}.model == 'A' && {OWN}.index < 4 && {OWN}.good", True),
        (f"{OWN}.model in ['B', 'C']", False),
        ("device.attributes['resource.kubernetes.io'].pcieRoot == 'pci0'", True),
        ("device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('40Gi'))", True),
        ("device.capacity['gpu.example.com'].memory.compareTo(quantity('80Gi')) == 0", True),
        (f"{OWN}.driverVersion.isLessThan(semver('1.10.0'))", True),
        (f"has({OWN}.colour)", False),
    ],
)
def test_what_can_be_evaluated(expression: str, matched: bool) -> None:
    assert evaluate(expression, "gpu.example.com", DEVICE).matched is matched


@pytest.mark.parametrize(
    "attribute", ["device.attributes['gpu.example.com']", "device.attributes['other.example.com']"]
)
def test_an_attribute_that_is_not_there_fails_in_the_scheduler_too(attribute: str) -> None:
    answer = evaluate(f"{attribute}.colour == 'red'", "gpu.example.com", DEVICE)
    assert answer.failed
    assert "colour" in answer.error


@pytest.mark.parametrize("expression", ["cel.bind(x, device.driver, x == 'y')", "device.driver ==", "device.driver"])
def test_what_cannot_be_evaluated_is_said_to_be_so(expression: str) -> None:
    answer = evaluate(expression, "gpu.example.com", DEVICE)
    assert answer.matched is None
    assert not answer.failed
    assert answer.error.startswith("not evaluated: ")


def test_the_evaluator_is_imported_only_when_there_is_something_to_explain() -> None:
    code = "import sys, harness.plugin, harness.cli; sys.exit('celpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
