"""Reading is enough; what may not be read is told (HS-66)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.explain import Subject, explain, render
from harness.kube.builders import pod, rule
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.explain.asked import reader, who_may


def held(scenario: Scenario) -> Object:
    return scenario.create(pod("waiter", claims={"gpu": "not-there"}))


@pytest.mark.statement("HS-66")
def test_command_writes_nothing_and_says_the_same_to_man_and_machine(
    scenario: Scenario, difference: Difference, tmp_path: Path
) -> None:
    waiter = held(scenario)
    before = scenario.get(waiter)

    name = "no-such-pod" if difference("the Pod that is asked about does not exist") else "waiter"
    command = [sys.executable, "-m", "harness", "explain", "pod", f"{scenario.namespace}/{name}"]
    command += ["--kubeconfig", str(scenario.cluster.kubeconfig)]
    as_text = subprocess.run(command, capture_output=True, text=True, check=False)
    as_json = subprocess.run([*command, "-o", "json"], capture_output=True, text=True, check=False)

    assert (as_text.returncode, as_json.returncode) == (0, 0), as_text.stderr
    assert [finding["cause"] for finding in json.loads(as_json.stdout)["findings"]] == ["claim-missing"]
    assert "claim-missing: " in as_text.stdout
    assert scenario.get(waiter) == before


@pytest.mark.control("HS-66")
def test_one_line_says_that_a_pod_does_not_exist(scenario: Scenario) -> None:
    command = [sys.executable, "-m", "harness", "explain", "pod", f"{scenario.namespace}/no-such-pod"]
    command += ["--kubeconfig", str(scenario.cluster.kubeconfig)]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 4
    assert done.stderr == f"dra-e2e: pod {scenario.namespace}/no-such-pod does not exist, and no event tells of it\n"


@pytest.mark.statement("HS-66")
def test_what_may_not_be_read_is_told_and_the_rest_found(scenario: Scenario, difference: Difference) -> None:
    waiter = held(scenario)
    everything = reader(scenario)
    rules = [rule("", ["pods"], ["list"]), rule("resource.k8s.io", ["resourceclaims"], ["list"])]
    half = who_may(scenario, f"half-{scenario.namespace}", rules, known_by="Pod")
    client = everything if difference("everything may be read") else half
    subject = Subject("pod", (waiter["metadata"]["name"],), scenario.namespace)

    found = explain(client, subject)

    assert found.causes == ("claim-missing",)
    assert [line.split(" (")[0] for line in found.unread if "nodes" in line] == ["may not list nodes"]
    assert "not known: may not list resourceslices (Forbidden)" in render.text(found)
