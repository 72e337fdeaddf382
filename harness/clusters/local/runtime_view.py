"""What the kubelet handed to the pretending runtime."""

import json
from pathlib import Path

_POD_UID = "io.kubernetes.pod.uid"
_CONTAINER = "io.kubernetes.container.name"


def cdi_devices(state: Path, pod_uid: str, container: str) -> tuple[str, ...]:
    """Fully qualified names of the CDI devices of a container, in the kubelet's order; `state` is the node's directory.

    Raises LookupError when the runtime was never asked for such a container.
    """
    for path in state.glob("container-*.json"):
        config = json.loads(path.read_text())["config"]
        if config["labels"].get(_POD_UID) == pod_uid and config["labels"].get(_CONTAINER) == container:
            return tuple(device["name"] for device in config.get("CDI_devices", ()))
    raise LookupError(f"the runtime was never asked for container {container} of Pod {pod_uid}")
