"""Faults of disks: full."""

from harness.clusters.protocol import NotObservable
from harness.clusters.started.components import CONTROL_PLANE
from harness.errors import InfrastructureError
from harness.faults.disks import Disks, fill
from harness.faults.fault import Heal, Target, fault
from harness.kube import ApiError
from harness.kube.builders.meta import built
from harness.kube.resources import Obj

_LABEL = {"dra-e2e/chaos": "ballast"}
_BALLAST = 200_000  # bytes of an object
_MOST = 400  # so many of them: more than etcd has laid out in advance


@fault("full-disk-etcd", "The disk with etcd's data is full", bound=120)
def full_disk_etcd(target: Target) -> Heal:
    """Written to until a write is refused: etcd lays out space in advance."""
    free = fill(_disks(target).etcd)
    _write_until_refused(target)

    def heal() -> None:
        free()
        target.cluster.start("etcd")
        target.client.delete_collection("ConfigMap", "default", label_selector="dra-e2e/chaos=ballast")

    return heal


@fault("full-disk-harness", "The disk with everything else is full: logs, kubelets', runtime's, driver's files",
       seconds=20, bound=150)  # fmt: skip
def full_disk_harness(target: Target) -> Heal:
    """What nobody can write down does not happen."""
    free = fill(_disks(target).harness)

    def heal() -> None:
        free()
        for component in CONTROL_PLANE:
            target.cluster.start(component)
        for node in target.cluster.kubelet_nodes():
            target.cluster.start("kubelet", node)

    return heal


def _disks(target: Target) -> Disks:
    if target.disks is None:
        raise NotObservable("a disk that may be filled is there on clusters of provider local only, and for root")
    return target.disks


def _write_until_refused(target: Target) -> None:
    for number in range(_MOST):
        ballast: Obj = built("ConfigMap", f"ballast-{number}", namespace="default", labels=_LABEL)
        try:
            target.client.create(ballast | {"data": {"ballast": "x" * _BALLAST}})
        except (ApiError, InfrastructureError):
            return
    raise InfrastructureError("etcd went on writing on a full disk: the fault did not come about")
