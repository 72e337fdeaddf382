"""Faults of the driver: crashed, hanging, away, its slices deleted or badly timed."""

from datetime import timedelta

from fake_driver.inventory import Taint
from harness.faults.clock import WRONG, stamp
from harness.faults.fault import Heal, Target, fault

_TAINT = "chaos.example.com/wrong-clock"


@fault("driver-crash", "The driver crashes on a node and comes back", bound=120)
def driver_crash(target: Target) -> Heal:
    """Its sockets stay behind, and so do its slices."""
    control = target.steered.control
    control.crash(target.node)
    return lambda: control.start(target.node)


# Longer than the 45 seconds that a kubelet waits for an answer.
@fault("hang-in-prepare", "The driver does not answer NodePrepareResources", seconds=50, bound=120)
def hang_in_prepare(target: Target) -> Heal:
    """On every node."""
    target.steered.control.delay_prepare()
    return target.steered.control.clear_faults


@fault("hang-in-unprepare", "The driver does not answer NodeUnprepareResources", seconds=50, bound=120)
def hang_in_unprepare(target: Target) -> Heal:
    """On every node."""
    target.steered.control.delay_unprepare()
    return target.steered.control.clear_faults


# Longer than the 30 seconds after which a kubelet deletes the slices of a driver that is gone.
@fault("driver-gone", "The driver ends in order on all nodes, for a minute", seconds=60, bound=120)
def driver_gone(target: Target) -> Heal:
    """As in an update that takes its time."""
    control = target.steered.control
    control.stop()
    return control.start


@fault("slices-deleted", "All ResourceSlices are deleted, while no driver is there to put them back")
def slices_deleted(target: Target) -> Heal:
    """The driver is down on all nodes, so that nothing puts them back before the end."""
    control = target.steered.control
    for node in control.nodes:
        control.crash(node)
    target.client.delete_collection("ResourceSlice")
    return control.start


@fault("taint-time-past", "A device gets a NoExecute taint that says it was added ten minutes ago", bound=60)
def taint_time_past(target: Target) -> Heal:
    """Whoever does not tolerate it goes."""
    return _tainted(target, -WRONG)


@fault("taint-time-future", "A device gets a NoExecute taint that says it will be added in ten minutes", bound=60)
def taint_time_future(target: Target) -> Heal:
    """Whoever does not tolerate it goes."""
    return _tainted(target, WRONG)


def _tainted(target: Target, wrong: timedelta) -> Heal:
    control = target.steered.control
    pool = next(each for each in control.pools if each.node == target.node)
    device = pool.devices[0].name
    taint = Taint(_TAINT, "NoExecute", time_added=stamp(wrong))
    control.update_device(pool.name, device, taints=(taint,))
    return lambda: control.update_device(pool.name, device, taints=())
