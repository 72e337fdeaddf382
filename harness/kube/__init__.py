"""Talking to a cluster: client, builders, predicates, waits, the barrier."""

from harness.kube.client import Client
from harness.kube.errors import ApiError
from harness.kube.polling import poll
from harness.kube.resources import Obj
from harness.kube.waits import Waiter, WaitTimeout

__all__ = ["ApiError", "Client", "Obj", "WaitTimeout", "Waiter", "poll"]
