"""What the standard load consists of: each node has a `mixed` pool, and every sort of claim has its Pods.

With all Deployments and a gang, the whole GPUs of three nodes are taken.
"""

from collections.abc import Mapping, Sequence

from harness.kube.builders import container, deployment, pod, request, runs_for, toleration
from harness.kube.resources import Obj

DRIVER = "chaos.example.com"
NAMESPACE = "dra-e2e-chaos"

#: Members of a gang.
GANG = 2

SMALL = "chaos-small"
EXTENDED = f"{DRIVER}/small-gpu"

_ATTRIBUTES = f'device.attributes["{DRIVER}"]'
_PARTITION = f'"partition" in {_ATTRIBUTES}'

#: DeviceClasses, and the devices of the driver that each selects.
CLASSES: Mapping[str, str] = {
    "chaos-whole": f'{_ATTRIBUTES}.model == "DC-80G" && !({_PARTITION})',
    "chaos-partition": f'{_PARTITION} && {_ATTRIBUTES}.partition == "quarter"',
    "chaos-shared": f'{_ATTRIBUTES}.model == "Shared-80G"',
    SMALL: f'{_ATTRIBUTES}.model == "Small-24G"',
}

#: What claims ask for, by the name of their template.
REQUESTS: Mapping[str, Obj] = {
    "own": request("chaos-whole"),
    "partition": request("chaos-partition"),
    "share": request("chaos-shared", capacity={"memory": "30Gi"}),
}

#: The Pods of each Deployment.
REPLICAS: Mapping[str, int] = {"own": 3, "together": 2, "partition": 5, "share": 4, "extended": 3}

_LABEL = "dra-e2e/chaos"
#: A node that is lost is given up after these seconds, and not after the five minutes that are the default.
_GIVEN_UP = 5


def labels(kind: str) -> dict[str, str]:
    """Of the Pods that stay, of gangs, of single Pods."""
    return {_LABEL: kind}


def selector(kind: str) -> str:
    """The same, to select by."""
    return f"{_LABEL}={kind}"


def deployments(image: str) -> list[Obj]:
    """What stays."""
    pods = {
        "own": _pod("own", "stays", image, templates={"gpu": "own"}),
        "together": _pod("together", "stays", image, claims={"gpu": "shared"}),
        "partition": _pod("partition", "stays", image, templates={"gpu": "partition"}),
        "share": _pod("share", "stays", image, templates={"gpu": "share"}),
        "extended": pod(
            "extended",
            containers=[container(image=image, limits={EXTENDED: 1})],
            labels=labels("stays"),
            tolerations=_tolerations(),
        ),
    }
    return [deployment(name, pods[name], replicas=replicas) for name, replicas in REPLICAS.items()]


def single(name: str, image: str) -> Obj:
    """A Pod that ends by itself."""
    return _pod(name, "single", image, templates={"gpu": "own"}, command=runs_for(1))


def member(name: str, group: str, image: str) -> Obj:
    """A Pod of a gang."""
    return _pod(name, "gang", image, templates={"gpu": "own"}, group=group)


def _pod(
    name: str, kind: str, image: str, *, claims: Mapping[str, str] | None = None,
    templates: Mapping[str, str] | None = None, command: Sequence[str] = ("sleep", "infinity"),
    group: str | None = None,
) -> Obj:  # fmt: skip
    return pod(
        name, claims=claims, templates=templates, command=command, image=image, pod_group=group,
        labels=labels(kind), tolerations=_tolerations(),
    )  # fmt: skip


def _tolerations() -> list[Obj]:
    lost = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    return [toleration(key, effect="NoExecute", seconds=_GIVEN_UP) for key in lost]
