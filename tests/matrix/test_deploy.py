"""The manifests of deploy/ say of each other what is so."""

from pathlib import Path
from typing import Any

import yaml

from harness.cli.in_cluster import _NAMESPACE
from harness.drivers import image
from harness.drivers.deployment import LENT

ROOT = Path(__file__).parents[2]


def job() -> dict[str, Any]:
    (found,) = (each for each in yaml.safe_load_all((ROOT / "deploy/job.yaml").read_text()) if each["kind"] == "Job")
    return dict(found)


def test_job_runs_as_many_shards_as_it_has_pods() -> None:
    spec = job()["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert f"--shards={spec['completions']}" in container["args"]
    assert spec["completionMode"] == "Indexed"
    assert container["image"] == image.SUITE.reference
    assert job()["metadata"]["namespace"] == _NAMESPACE


def test_sonobuoy_plugin_hands_over_where_sonobuoy_looks() -> None:
    plugin = yaml.safe_load((ROOT / "deploy/sonobuoy.yaml").read_text())
    (mount,) = plugin["spec"]["volumeMounts"]
    assert f"--sonobuoy={mount['mountPath']}" in plugin["spec"]["args"]
    assert plugin["sonobuoy-config"]["result-format"] == "manual"
    assert plugin["sonobuoy-config"]["result-files"] == ["sonobuoy_results.yaml"]
    assert plugin["spec"]["image"] == image.SUITE.reference


def test_page_names_the_label_that_lends_the_driver() -> None:
    assert f"{LENT}=true" in (ROOT / "docs/in-cluster.md").read_text()
