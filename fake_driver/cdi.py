"""CDI spec files: what a container runtime adds to a container that uses a claim's devices."""

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CLASS = "gpu"


@dataclass(frozen=True)
class AllocatedDevice:
    """A device of a claim as far as a container sees it. `share_id` tells shares of one device apart."""

    request: str
    pool: str
    device: str
    uuid: str
    share_id: str = ""


def device_id(driver: str, claim_uid: str, allocated: AllocatedDevice) -> str:
    """The qualified CDI name of a device of a claim."""
    return f"{driver}/{_CLASS}={_name(claim_uid, allocated)}"


def write_spec(directory: Path, driver: str, claim_uid: str, devices: Sequence[AllocatedDevice]) -> None:
    """Write the spec file of a claim (one CDI device per allocated device), at once or not at all."""
    directory.mkdir(parents=True, exist_ok=True)
    spec = {
        "cdiVersion": "0.5.0",
        "kind": f"{driver}/{_CLASS}",
        "devices": [
            {"name": _name(claim_uid, device), "containerEdits": _edits(driver, claim_uid, device, variable)}
            for device, variable in zip(devices, _variables(devices), strict=True)
        ],
    }
    target = _path(directory, driver, claim_uid)
    # Runtimes read *.json and *.yaml only.
    scratch = target.with_suffix(".new")
    scratch.write_text(json.dumps(spec, indent=2))
    os.replace(scratch, target)


def remove_spec(directory: Path, driver: str, claim_uid: str) -> None:
    """Remove the spec file of a claim, if it is there."""
    _path(directory, driver, claim_uid).unlink(missing_ok=True)


def _path(directory: Path, driver: str, claim_uid: str) -> Path:
    return directory / f"{driver}-{claim_uid}.json"


def _name(claim_uid: str, device: AllocatedDevice) -> str:
    # One name per request, too: requests for admin access may hold a device that another request has.
    parts = [claim_uid, device.request, device.pool, device.device, device.share_id]
    return re.sub(r"[^A-Za-z0-9._-]", "-", "-".join(part for part in parts if part))


def _variables(devices: Sequence[AllocatedDevice]) -> list[str]:
    """`DRA_E2E_GPU_<REQUEST>`, with `_<n>` behind it where a request has several devices."""
    total, seen = Counter(device.request for device in devices), Counter[str]()
    names = []
    for device in devices:
        name = "DRA_E2E_GPU_" + _variable_part(device.request)
        names.append(f"{name}_{seen[device.request]}" if total[device.request] > 1 else name)
        seen[device.request] += 1
    return names


def _edits(driver: str, claim_uid: str, device: AllocatedDevice, variable: str) -> dict[str, Any]:
    # The second variable is unique even where two claims of a container call their requests alike.
    unique = f"DRA_E2E_DEVICE_{_variable_part(_name(claim_uid, device))}"
    return {
        "env": [f"{variable}={device.uuid}", f"{unique}={driver}/{device.pool}/{device.device}"],
        "deviceNodes": [{"path": f"/dev/dra-e2e/{_name(claim_uid, device)}", "hostPath": "/dev/null", "type": "c"}],
    }


def _variable_part(text: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", text.upper())
