"""What one process of the run writes about a cluster another one reads, whichever provider it is of."""

import json
import stat
from dataclasses import asdict
from pathlib import Path

import pytest

from harness.clusters.existing.facts import Facts as ExistingFacts
from harness.clusters.facts import Facts
from harness.clusters.kind.facts import Facts as KindFacts
from harness.clusters.kind.facts import Ports as KindPorts
from harness.clusters.local.control_plane import Ports
from harness.clusters.local.facts import Facts as LocalFacts
from harness.clusters.local.kubelet import Node
from harness.clusters.profile import load
from harness.clusters.resolution import Resolution
from harness.errors import InfrastructureError
from harness.releases import get

# A list is what JSON has in place of a tuple.
RESOLUTION = Resolution(**json.loads(json.dumps(asdict(load("features").resolve(get("1.37"))))))
LOCAL = LocalFacts(
    name="l",
    run_id="abcdef",
    release_name="1.37",
    programs={"etcd": "/bin/etcd"},
    resolution=RESOLUTION,
    args={"etcd": ["--debug"]},
    ports=Ports(1, 2, 3, 4, 5),
    nodes=[Node("worker-1", "n1", 6)],
)
KIND = KindFacts(
    name="k",
    run_id="abcdef",
    release_name="1.37",
    programs={"kind": "/bin/kind"},
    resolution=RESOLUTION,
    kind_name="dra",
    docker_host="unix:///run/docker.sock",
    image="node:1",
    control_plane="dra-control-plane",
    workers=["dra-worker"],
    ports=KindPorts(1, 2, 3),
    notes=["note"],
)
EXISTING = ExistingFacts("e", "abcdef", "1.37", ["n1"], "busybox", "api", "", {"Gate": True}, ["v1"], ["note"])


@pytest.mark.parametrize("facts", [LOCAL, KIND, EXISTING], ids=["local", "kind", "existing"])
def test_they_are_the_same_for_other_processes(facts: Facts, tmp_path: Path) -> None:
    facts.write(tmp_path)
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    read = type(facts).read(tmp_path)
    assert read == facts
    assert read.release.minor == "1.37"


def test_where_there_is_no_cluster_that_is_told(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=f"there is no cluster in {tmp_path}"):
        LocalFacts.read(tmp_path)
