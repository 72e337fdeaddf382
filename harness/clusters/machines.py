"""Clusters whose nodes' machines can be switched off and on: capability `power`."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class Machines(Protocol):
    """What such a cluster offers beside `harness.clusters.protocol.Cluster`. Both may raise InfrastructureError."""

    def power_off(self, node: str) -> None:
        """Switch a node's machine off, without a word to anybody; what is on its disk stays."""

    def power_on(self, node: str) -> None:
        """Switch it on again; returns when its kubelet runs, whether or not that has a Node."""
