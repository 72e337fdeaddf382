"""Faults of clocks: what a node writes of the time is wrong by minutes."""

import contextlib
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from harness.errors import InfrastructureError
from harness.faults.fault import Heal, Target, fault, meanwhile
from harness.kube import ApiError
from harness.kube.resources import Obj
from harness.kube.times import api_time

#: How far a clock is wrong.
WRONG = timedelta(minutes=10)

_LEASES = "kube-node-lease"
_AGAIN = 1.0  # seconds; a kubelet writes the right time every ten, which is never the last word for long


def stamp(wrong: timedelta, *, micro: bool = False) -> str:
    """The present, as a clock that is wrong by so much has it, in the API's notation (`micro`: of a MicroTime)."""
    return api_time(datetime.now(UTC) + wrong, micro=micro)


# Longer than the 50 seconds without a sign of life after which a node counts as lost, and so is what comes after.
@fault("lease-time-past", "A node's Lease is renewed with a time ten minutes ago", seconds=70, bound=120, steady=70)
def lease_time_past(target: Target) -> Heal:
    """As by a kubelet whose clock is late."""
    return _again_and_again(lambda: _renew(target, -WRONG))


@fault("lease-time-future", "A node's Lease is renewed with a time in ten minutes", seconds=70, bound=120, steady=70)
def lease_time_future(target: Target) -> Heal:
    """As by a kubelet whose clock is early."""
    return _again_and_again(lambda: _renew(target, WRONG))


@fault("heartbeat-past", "A node's status has heartbeats of ten minutes ago", seconds=30)
def heartbeat_past(target: Target) -> Heal:
    """In all its conditions."""
    return _again_and_again(lambda: _beat(target, -WRONG))


@fault("heartbeat-future", "A node's status has heartbeats of a time in ten minutes", seconds=30)
def heartbeat_future(target: Target) -> Heal:
    """In all its conditions."""
    return _again_and_again(lambda: _beat(target, WRONG))


def _renew(target: Target, wrong: timedelta) -> None:
    lease: Obj = {"kind": "Lease", "metadata": {"name": target.node, "namespace": _LEASES}}
    target.client.patch(lease, {"spec": {"renewTime": stamp(wrong, micro=True)}})


def _beat(target: Target, wrong: timedelta) -> None:
    node = target.client.get("Node", target.node)
    conditions = [{"type": each["type"], "lastHeartbeatTime": stamp(wrong)} for each in node["status"]["conditions"]]
    target.client.patch(node, {"status": {"conditions": conditions}}, "strategic", subresource="status")


def _again_and_again(write: Callable[[], None]) -> Heal:
    write()

    def go_on(over: threading.Event) -> None:
        while not over.wait(_AGAIN):
            with contextlib.suppress(ApiError, InfrastructureError):  # the kubelet was faster, or nobody is there
                write()

    return meanwhile("wrong clock", go_on)
