"""When Events were sent.

A component that found no events.k8s.io when it started (kubeadm starts the scheduler beside the API server) sends
Events of the core API as long as it lives: they have no `eventTime`, and tell only seconds.
"""

from datetime import datetime
from typing import NamedTuple

from harness.kube.resources import Obj


class Moment(NamedTuple):
    """A time in seconds since 1970, as far as it is told: not before `earliest`, not after `latest`."""

    earliest: float
    latest: float

    def __sub__(self, other: object) -> "Moment":
        """The seconds that passed since another moment, as far as both are told."""
        if not isinstance(other, Moment):
            return NotImplemented
        return Moment(self.earliest - other.latest, self.latest - other.earliest)


def first_sent(event: Obj) -> Moment:
    """When an Event was sent first. Raises ValueError for one that does not tell it."""
    if event.get("eventTime"):
        exact = datetime.fromisoformat(event["eventTime"]).timestamp()
        return Moment(exact, exact)
    told = event.get("firstTimestamp") or event["metadata"].get("creationTimestamp")
    if not told:
        raise ValueError(f"Event {event['metadata'].get('name')} does not tell when it was sent")
    second = datetime.fromisoformat(told).timestamp()
    return Moment(second, second + 1)
