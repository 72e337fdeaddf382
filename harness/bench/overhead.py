"""What a scenario costs beside what it waits for, measured on pytest itself."""

import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from harness.bench.rounds import Samples
from harness.errors import InfrastructureError
from harness.report import read

_SCENARIOS = """
import time

import pytest
from fake_driver.profiles import gpus
from harness.kube.builders import claim, pod, request
from harness.kube.predicates import running

pytestmark = pytest.mark.control("WF-01")


@pytest.mark.parametrize("number", range({count}))
def test_empty(scenario, number):
    pass


@pytest.mark.parametrize("number", range({count}))
def test_driver(scenario, number):
    scenario.driver(gpus())


@pytest.mark.parametrize("number", range({count}))
def test_pod(scenario, number):
    driver = scenario.driver(gpus())
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    scenario.wait(scenario.create(pod("consumer", claims={{"gpu": wanted}})), running())
    began = time.monotonic()
    assert scenario.timeline()
    scenario.measured("timeline", time.monotonic() - began, "time axis collected")
"""

TITLES = {
    "empty scenario": "from one empty scenario to the next",
    "driver scenario": "the same with a driver, registered and published",
    "pod scenario": "the same with a driver and a Pod that runs",
    "timeline": "of which its time axis",
}


def overhead(directory: Path, arguments: Sequence[str], count: int) -> Samples:
    """From the start of one scenario to that of the next, in one process: empty ones, with a driver, with a Pod.

    `arguments` choose the cluster, as pytest's own. Raises InfrastructureError when pytest does not pass.
    """
    folder = Path(tempfile.mkdtemp(dir=directory))
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "test_overhead.py").write_text(_SCENARIOS.format(count=count + 2), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "harness.plugin", "-p", "no:cacheprovider"]
    command += [f"--reports={folder / 'reports'}", *arguments, "test_overhead.py"]
    source = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InfrastructureError(f"the scenarios that measure the overhead did not pass: {done.stdout[-2000:]}")
    (report,) = (folder / "reports").glob("*/report.json")
    results = [result for statement in read(report).statements for result in statement.controls]
    begins = {result.nodeid: datetime.fromisoformat(result.started).timestamp() for result in results}
    axes = [seen.seconds for result in results for seen in result.observed if seen.measure == "timeline"]
    return {
        **{name: _distances(begins, f"test_{name.split()[0]}") for name in TITLES if name.endswith(" scenario")},
        "timeline": [seconds for seconds in axes if seconds is not None],
    }


def _distances(begins: dict[str, float], test: str) -> tuple[float, ...]:
    """Without the first one, which starts the cluster."""
    times = sorted(begin for nodeid, begin in begins.items() if f"::{test}[" in nodeid)[1:]
    return tuple(round(later - earlier, 3) for earlier, later in itertools.pairwise(times))
