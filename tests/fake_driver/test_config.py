"""The configuration file: what it means, and one clear line for what is wrong."""

from pathlib import Path

import pytest

from fake_driver.__main__ import main
from fake_driver.config import load
from fake_driver.errors import ConfigError
from fake_driver.inventory import Capacity, Device, Pool, Taint, Version
from fake_driver.pool_file import load_pools
from fake_driver.profiles import gpus


def test_reads_nodes_and_drivers(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        "nodes: [{name: n1, kubeletRoot: /k, cdiDir: /c}]\n"
        "drivers: [{name: d, deviceClass: c, nodes: [n1], pools: [{profile: gpus, count: 2, sliceSize: 1}]}]\n"
    )
    config = load(file)
    assert [(node.name, node.kubelet_root, node.cdi_dir) for node in config.nodes] == [("n1", Path("/k"), Path("/c"))]
    (driver,) = config.drivers
    assert (driver.name, driver.device_class, driver.nodes) == ("d", "c", ("n1",))
    assert driver.pools == (gpus(2, slice_size=1),)


def test_reads_devices_one_by_one() -> None:
    (pool,) = load_pools(
        """
        - name: lan
          allNodes: true
          devices:
          - name: nic
            attributes: {speed: 100, up: true, model: x, firmware: {version: 1.0.0}, lanes: [1, 2]}
            capacity: {bandwidth: {value: 10Gi, requestPolicy: {default: 1Gi}}, buffers: 5}
            allowMultipleAllocations: true
            taints: [{key: k, effect: NoSchedule}]
        """
    )
    nic = Device(
        "nic",
        attributes={"speed": 100, "up": True, "model": "x", "firmware": Version("1.0.0"), "lanes": [1, 2]},
        capacity={"bandwidth": Capacity("10Gi", {"default": "1Gi"}), "buffers": "5"},
        allow_multiple_allocations=True,
        taints=(Taint("k", "NoSchedule"),),
    )
    assert pool == Pool("lan", (nic,), all_nodes=True)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[1", "cannot read"),
        ("3", "the file must be a mapping"),
        ("driver: x", "unknown key 'driver'"),
        ("drivers: [{}]", "drivers\\[0\\]: 'name' is missing"),
        ("drivers: [{name: d, pools: 3}]", "pools must be a list"),
        ("drivers: [{name: d, pools: [{profile: tpus}]}]", "drivers\\[0\\].pools\\[0\\]: unknown profile 'tpus'"),
        ("drivers: [{name: d, pools: [{profile: gpus, count: many}]}]", "profile 'gpus'"),
        ("drivers: [{name: d, pools: [{name: p, devices: 3}]}]", "wrong kind"),
        ("drivers: [{name: d, pools: [{name: p, devices: [{nam: x}]}]}]", "unknown field 'nam'.*allNodes"),
        ("drivers: [{name: d}]\nlabels: 3", "wrong kind"),
    ],
)
def test_a_mistake_is_one_clear_line(
    tmp_path: Path, text: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=complaint):
        load(file)
    assert main(["--config", str(file)]) == 4
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml"):
        load(tmp_path / "nowhere.yaml")
