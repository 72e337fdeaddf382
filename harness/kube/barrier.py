"""Proof that something did not happen, without sleeping: a later twin that the same component must handle.

A component learns of the objects of one kind through one watch, in the order in which the API server stored them; of
two kinds, through two watches, in no order between them. When a twin that was created later shows its first own trace
(a condition, a binding, a generated claim, a running container), the component has been told of everything of the same
kind that was there before. Each method says what more it proves, and what it does not.
"""

import copy
import secrets
from dataclasses import replace
from typing import Literal, Protocol

from harness.kube import metrics
from harness.kube.builders import DEFAULT_IMAGE, claim, pod
from harness.kube.client import Client
from harness.kube.predicates import claim_generated, running, tried
from harness.kube.resources import Obj
from harness.kube.waits import Waiter


class Pages(Protocol):
    """Where the components' /metrics pages come from (Cluster.metrics is such a place)."""

    def __call__(self, component: Literal["kube-scheduler", "kube-controller-manager"]) -> str:
        """The page as it is now, in Prometheus' text format."""


class Barrier:
    """Twins in the client's namespace. They stay until the namespace goes: a deletion would be one more event."""

    def __init__(self, client: Client, waiter: Waiter, image: str, pages: Pages) -> None:
        self._client = client
        # What the twins go through is no part of the scenario's timeline.
        self._waiter = replace(waiter, observer=None)
        self._image = image
        self._pages = pages

    # --- scheduler --------------------------------------------------------------------------------------------------

    def scheduler(self, scheduler_name: str | None = None) -> None:
        """Every Pod created before has been put through PreEnqueue, and those that passed it had their first turn.

        One process has one queue for all its profiles, ordered by priority, then by time; a failed turn has written its
        condition before the next one begins. So an earlier Pod of the default priority without any trace is held back,
        or is being bound at this moment: a Pod whose claim cannot be allocated has no such moment, for others use
        `held_back`. Says nothing about changes of other kinds of objects (`scheduler_saw_claims`, `scheduler_with`),
        nor that a Pod that failed before has been tried again: it then waits for up to 10 s, behind fresh Pods.
        """
        self.scheduler_with(pod(self._name(), scheduler_name=scheduler_name))

    def scheduler_saw_claims(self, *requests: Obj, scheduler_name: str | None = None) -> Obj:
        """As `scheduler`, and every change of a ResourceClaim stored before has been handled; returns the twin.

        The twin has a claim of its own with these requests. It is held back until the claim is known, which came later
        than the changes. Pods that such a change released are queued by then; first-time Pods have had their turn.
        """
        own = self._client.create(claim(self._name(), *requests))
        return self.scheduler_with(pod(self._name(), claims={"own": own}, scheduler_name=scheduler_name))

    def scheduler_with(self, twin: Obj) -> Obj:
        """As `scheduler`, with this Pod as the twin; returns it with its first trace.

        With a copy of the Pod under test its trace is what becomes of such a Pod now, whichever queue the first is in.
        When its turn depends on objects of other kinds that were created after a change, the scheduler has been told of
        that change: a claim of its own proves it for claims, a slice and class of its own for slices and classes.
        """
        return self._waiter.wait(self._create(twin), tried())

    def held_back(self, count: int, scheduler_name: str) -> None:
        """The plugin DynamicResources keeps so many Pods of this scheduler profile, as the scheduler itself counts.

        It counts Pods that the plugin rejected at PreEnqueue, and those it rejected in a scheduling turn, which have a
        PodScheduled condition: a Pod without one was held at PreEnqueue. The profile must be the scenario's own.
        """

        def read() -> float:
            page = self._pages("kube-scheduler")
            return metrics.value(
                page, "scheduler_unschedulable_pods", plugin="DynamicResources", profile=scheduler_name
            )

        what = f"DynamicResources holds back {count} Pods of {scheduler_name}"
        self._waiter.poll(read, lambda held: held == count, what)

    # --- controller manager -----------------------------------------------------------------------------------------

    def claim_controller(self, template: Obj) -> None:
        """The resource claim controller has handled every Pod that was created before, to the end.

        A twin of the template has its claim, so earlier Pods are in the controller's queue, in work or done; then its
        queue is seen empty and all its workers idle, so they are done. Work that failed and will be tried again later
        counts as done. Says nothing about changes of claims, templates or PodGroups, which have watches of their own.
        """
        # With a scheduling gate no scheduler touches the twin or its devices.
        twin = pod(self._name(), templates={"twin": template}, scheduling_gates=["dra-e2e/twin"])
        self._waiter.wait(self._create(twin), claim_generated("twin"))
        self._waiter.poll(
            self._unfinished_claim_work,
            lambda items: items == 0,
            "the resource claim controller is idle",
            interval=0.02,
        )

    def _unfinished_claim_work(self) -> float:
        """Items in the controller's queue or in work: at least as many as there were at some moment in this call.

        Each item is counted once when added and once when done. What is done is read first: were it read last, the end
        of a later item could make up for an earlier one that is still in work.
        """
        queue = "resource_claim"
        page = self._pages("kube-controller-manager")
        done = metrics.value(page, "workqueue_work_duration_seconds_count", name=queue)
        return metrics.value(self._pages("kube-controller-manager"), "workqueue_adds_total", name=queue) - done

    # --- kubelet ----------------------------------------------------------------------------------------------------

    def kubelet(self, node: str) -> None:
        """The kubelet of a node has been told of every Pod that was bound to it before: a later Pod runs there.

        Proves that an earlier Pod's work has begun, and has had as long as a whole start of a Pod takes. The kubelet
        works on each Pod separately, so it does not prove that this work has come to an end.
        """
        self._waiter.wait(self._create(pod(self._name(), node_name=node)), running())

    def _create(self, twin: Obj) -> Obj:
        body = copy.deepcopy(twin)
        for container in body["spec"]["containers"]:
            if container["image"] == DEFAULT_IMAGE:
                container["image"] = self._image
        return self._client.create(body)

    @staticmethod
    def _name() -> str:
        return f"twin-{secrets.token_hex(3)}"
