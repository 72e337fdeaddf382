"""Faults of a node as a whole."""

from harness.clusters.machines import Machines
from harness.faults.components import kill
from harness.faults.fault import Heal, Target, fault


# Longer than the minute that the controller of orphaned Pods takes at most to remove them.
@fault("node-gone", "A node's machine is gone, its Node is deleted, and it comes back", seconds=70, bound=180)
def node_gone(target: Target) -> Heal:
    """Switched off where machines can be; elsewhere its kubelet is killed and its driver crashes."""
    cluster, client, node = target.cluster, target.client, target.node
    if isinstance(cluster, Machines):
        cluster.power_off(node)
        client.delete("Node", node)
        return lambda: cluster.power_on(node)
    start = kill(target, "kubelet", node)
    target.steered.control.crash(node)
    client.delete("Node", node)

    def heal() -> None:
        start()
        target.steered.control.start(node)

    return heal
