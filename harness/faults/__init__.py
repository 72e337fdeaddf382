"""Named faults, and what must be true of a cluster whatever has happened to it."""

from harness.faults import clock, components, disk, driver, node
from harness.faults.disks import Disks, small_disks
from harness.faults.fault import FAULTS, Fault, Heal, Target, named
from harness.faults.files import EVIDENCE, write
from harness.faults.invariants import INVARIANTS, Invariant, Violation, check
from harness.faults.load import Load
from harness.faults.model import UNSOUND, Chaos, Outcome
from harness.faults.state import Plugin, State, read
from harness.faults.trial import run

__all__ = [
    "EVIDENCE",
    "FAULTS",
    "INVARIANTS",
    "UNSOUND",
    "Chaos",
    "Disks",
    "Fault",
    "Heal",
    "Invariant",
    "Load",
    "Outcome",
    "Plugin",
    "State",
    "Target",
    "Violation",
    "check",
    "clock",
    "components",
    "disk",
    "driver",
    "named",
    "node",
    "read",
    "run",
    "small_disks",
    "write",
]
