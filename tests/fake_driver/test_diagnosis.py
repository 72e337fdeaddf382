"""From readings to taints."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from fake_driver.diagnosis import BUS, COOLED, ECC, ECC_LIMIT, HEAT, HOT, MAINTENANCE, Readings, diagnose, report
from fake_driver.errors import ConfigError
from fake_driver.inventory import Device, Pool, Taint
from fake_driver.local_driver import LocalDriver
from tests.fake_driver.memory_api import MemoryApi

GPU = Device("gpu-0")


def after(*readings: Readings, device: Device = GPU) -> Sequence[Taint]:
    """The taints of a device after a row of readings."""
    for reading in readings:
        device = replace(device, taints=diagnose(device, reading))
    return device.taints


def test_device_in_good_order_has_no_taint() -> None:
    assert after(Readings()) == ()


@pytest.mark.parametrize(
    ("readings", "taint"),
    [
        (Readings(ecc_errors=ECC_LIMIT), Taint(ECC, "NoSchedule", "over-limit")),
        (Readings(celsius=HOT), Taint(HEAT, "NoSchedule", "over-limit")),
        (Readings(on_bus=False), Taint(BUS, "NoExecute", "lost")),
        (Readings(maintenance="announced"), Taint(MAINTENANCE, "NoSchedule", "announced")),
        (Readings(maintenance="begun"), Taint(MAINTENANCE, "NoExecute", "begun")),
    ],
    ids=["ecc", "heat", "bus", "maintenance-announced", "maintenance-begun"],
)
def test_each_fault_has_its_taint_and_recovers(readings: Readings, taint: Taint) -> None:
    assert after(readings) == (taint,)
    assert after(readings, Readings()) == ()


@pytest.mark.parametrize("readings", [Readings(ecc_errors=ECC_LIMIT - 1), Readings(celsius=HOT - 1)])
def test_below_the_limit_is_no_fault(readings: Readings) -> None:
    assert after(readings) == ()


def test_hot_device_stays_tainted_until_it_has_cooled() -> None:
    hot = Readings(celsius=HOT)
    assert [taint.key for taint in after(hot, Readings(celsius=COOLED + 1))] == [HEAT]
    assert after(hot, Readings(celsius=COOLED)) == ()
    assert after(Readings(celsius=COOLED + 1)) == ()


def test_several_faults_are_several_taints() -> None:
    assert [taint.key for taint in after(Readings(ecc_errors=99, celsius=99, on_bus=False))] == [ECC, HEAT, BUS]


def test_other_taints_stay() -> None:
    others = (Taint("example.com/reserved", "NoSchedule", time_added="2026-01-01T00:00:00Z"),)
    device = replace(GPU, taints=others)
    assert after(Readings(on_bus=False), device=device)[:1] == others
    assert after(Readings(on_bus=False), Readings(), device=device) == others


@pytest.fixture
def driver() -> Iterator[LocalDriver]:
    served = LocalDriver(MemoryApi(), "gpu.example.com", ())
    served.set_pools([Pool("rack", (GPU, Device("gpu-1")), all_nodes=True)])
    yield served
    served.withdraw()


def test_report_publishes_the_taint_of_that_device_and_takes_it_back(driver: LocalDriver) -> None:
    report(driver, "rack", "gpu-1", Readings(ecc_errors=ECC_LIMIT))
    assert [[taint.key for taint in device.taints] for device in driver.pools[0].devices] == [[], [ECC]]

    report(driver, "rack", "gpu-1", Readings())
    assert [device.taints for device in driver.pools[0].devices] == [(), ()]


def test_report_about_a_device_that_is_not_there_says_so(driver: LocalDriver) -> None:
    with pytest.raises(ConfigError, match="no device 'gpu-9' in a pool 'rack'"):
        report(driver, "rack", "gpu-9", Readings())
