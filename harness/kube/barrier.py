"""Proof that something did not happen, without sleeping: a later twin that the same component must handle.

Each component learns of objects through watches, in the order in which the API server stored them. When a twin that was
created later shows its first own trace (a condition, a binding, a generated claim, a running container), the component
has seen everything that was there before.
"""

import secrets
from dataclasses import replace

from harness.kube import builders
from harness.kube.client import Client
from harness.kube.predicates import claim_generated, running, tried
from harness.kube.resources import Obj
from harness.kube.waits import Waiter

#: Twins that the claim controller handles one after another. Its workers take Pods first come, first served; while one
#: worker would still be busy with the earlier Pod, the others have handled these.
_CLAIM_TWINS = 2


class Barrier:
    """Twins in the client's namespace. They stay until the namespace goes: a deletion would be one more event."""

    def __init__(self, client: Client, waiter: Waiter, image: str, tolerations: tuple[Obj, ...] = ()) -> None:
        self._client = client
        self._waiter = replace(waiter, observer=None)
        self._image = image
        self._tolerations = tolerations

    def scheduler(self, scheduler_name: str | None = None) -> None:
        """Every Pod that was there has been put through PreEnqueue, and those that passed it were queued before the twin.

        Proves that a Pod without any trace is held back, because one that was not held would have had its turn before:
        the queue is ordered by priority, then by time. Says nothing about a change of other kinds of objects: use
        `scheduler_with` a twin that depends on such an object of its own, created after the change.
        """
        self.scheduler_with(builders.pod(self._name(), scheduler_name=scheduler_name))

    def scheduler_with(self, twin: Obj) -> Obj:
        """As `scheduler`, for the kinds of objects that this twin's turn depends on."""
        return self._waiter.wait(self._create(twin), tried())

    def claim_controller(self, template: Obj) -> None:
        """The resource claim controller has handled every Pod that was there: twins of the template have their claims.

        The controller works on several Pods at once, so an earlier Pod may still be in work when a twin is done; a
        second twin, created after the first is done, leaves it the time of two whole rounds.
        """
        for _ in range(_CLAIM_TWINS):
            twin = self._create(
                builders.pod(self._name(), templates={"twin": template}, scheduling_gates=["dra-e2e/twin"])
            )
            self._waiter.wait(twin, claim_generated("twin"))

    def kubelet(self, node: str) -> None:
        """The kubelet of a node has been told of every Pod that was bound to it: a later Pod runs there."""
        self._waiter.wait(self._create(builders.pod(self._name(), node_name=node)), running())

    def _create(self, twin: Obj) -> Obj:
        twin["spec"]["tolerations"] = [*twin["spec"].get("tolerations", ()), *self._tolerations]
        for container in twin["spec"]["containers"]:
            container.setdefault("image", self._image)
        return self._client.create(twin)

    @staticmethod
    def _name() -> str:
        return f"twin-{secrets.token_hex(3)}"
