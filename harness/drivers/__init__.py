"""The fake driver on a cluster, with one interface wherever it runs."""

from harness.drivers.deployment import prepare
from harness.drivers.driver import PREPARE, UNPREPARE, Driver, Observed
from harness.drivers.host import DriverHost

__all__ = ["PREPARE", "UNPREPARE", "Driver", "DriverHost", "Observed", "prepare"]
