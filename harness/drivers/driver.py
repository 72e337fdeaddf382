"""A fake driver as a scenario sees it: what it steers, and what it may expect of the kubelet's calls."""

from collections.abc import Callable
from dataclasses import dataclass

from fake_driver.calls import Call
from fake_driver.control import Driver as Control
from harness.kube.resources import Obj
from harness.kube.waits import Observer, WaitTimeout

#: Seconds that a kubelet has for what it does at once on an idle machine.
TIMEOUT = 30.0

PREPARE = "NodePrepareResources"
UNPREPARE = "NodeUnprepareResources"


@dataclass(frozen=True)
class Observed:
    """A driver of which no more is known than any user of the cluster knows: it cannot be steered."""

    name: str
    device_class: str


class Driver:
    """One driver name on a cluster. `control` steers it; `device_class` is the class that selects all its devices."""

    def __init__(self, control: Control, device_class: str, observer: Observer | None, time_factor: float) -> None:
        self.control = control
        self.name = control.name
        self.device_class = device_class
        self._observer = observer
        self._time_factor = time_factor

    def registered(self, timeout: float = TIMEOUT) -> None:
        """Wait until every kubelet has taken the driver since its last start. Raises WaitTimeout."""
        try:
            self.control.wait_registered(timeout * self._time_factor)
        except TimeoutError as error:
            raise WaitTimeout(f"driver {self.name} was not registered with the kubelet: {error}") from error

    def prepared(self, claim: Obj, timeout: float = TIMEOUT) -> Call:
        """Wait for a successful NodePrepareResources for the claim. Raises WaitTimeout."""
        return self._call(PREPARE, claim, timeout)

    def unprepared(self, claim: Obj, timeout: float = TIMEOUT) -> Call:
        """Wait for a successful NodeUnprepareResources for the claim. Raises WaitTimeout."""
        return self._call(UNPREPARE, claim, timeout)

    def calls(self, method: str, claim: Obj | None = None) -> list[Call]:
        """The calls of a method so far, about the claim where one is given, in the order in which they began."""
        about = _about(method, claim)
        return [call for call in self.control.calls if about(call)]

    def asked(self, method: str, claim: Obj, timeout: float = TIMEOUT) -> Call:
        """Wait until the kubelet has called a method for the claim, whatever comes of it. Raises WaitTimeout."""
        return self._wait(method, claim, _about(method, claim), timeout)

    def _call(self, method: str, claim: Obj, timeout: float) -> Call:
        about = _about(method, claim)
        return self._wait(method, claim, lambda call: about(call) and call.result == "ok", timeout)

    def _wait(self, method: str, claim: Obj, wanted: Callable[[Call], bool], timeout: float) -> Call:
        try:
            call = self.control.wait_for_call(wanted, timeout * self._time_factor)
        except TimeoutError as error:
            raise WaitTimeout(f"driver {self.name}, {method} for {claim['metadata']['name']}: {error}") from error
        if self._observer:
            self._observer.observed(f"{method} on {call.node}", claim)
        return call


def _about(method: str, claim: Obj | None) -> Callable[[Call], bool]:
    uid = claim["metadata"]["uid"] if claim else None
    return lambda call: call.method == method and (uid is None or (call.claim is not None and call.claim.uid == uid))
