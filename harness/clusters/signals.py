"""Clusters whose components can be sent signals, as the system or a person sends them."""

import signal
from typing import Protocol, runtime_checkable

from harness.clusters.protocol import Component


@runtime_checkable
class Signals(Protocol):
    """What such a cluster offers beside `harness.clusters.protocol.Cluster`. May raise InfrastructureError."""

    def signal(self, component: Component, number: signal.Signals, node: str | None = None) -> None:
        """Send a signal to a component's process; returns after SIGKILL when it is gone. It may not run at all.

        Whether one that this ends comes back by itself is up to the cluster; `Cluster.start` brings it back anyway.
        """
