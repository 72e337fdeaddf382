"""Removing what a measurement made, so that the next one meets free devices."""

from harness.bench.workloads import LABEL
from harness.kube import Client, Waiter
from harness.kube.predicates import count_of, exists

_PATIENCE = 120.0  # seconds for what takes a few
_KINDS = ("Pod", "ResourceClaim", "PodGroup")


def clear(client: Client, *, everything: bool = False) -> None:
    """Delete all Pods, claims and groups of the client's namespace, and wait until none is left.

    What has the label stays, unless `everything` is to go. A claim goes when the controller manager knows that its Pods
    are gone.
    """
    others = None if everything else f"!{LABEL}"
    for kind in _KINDS:
        if client.release is None or client.release.api_version(kind):
            client.delete_collection(kind, label_selector=others)
            Waiter(client).wait_any(kind, count_of(exists(), 0), _PATIENCE, label_selector=others)
