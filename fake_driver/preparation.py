"""Preparing claims on a node, without the gRPC around it: idempotent, and remembered over a restart."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fake_driver.api import Api, ApiError, claim_path
from fake_driver.calls import ClaimRef
from fake_driver.cdi import AllocatedDevice, device_id, remove_spec, write_spec
from fake_driver.checkpoint import Checkpoint, PreparedClaim


class PreparationError(Exception):
    """A claim cannot be prepared; the text goes to the kubelet."""


class Preparation:
    """The claims of one driver on one node. `uuid_of(pool, device)` tells the uuid that containers get to see."""

    def __init__(
        self, api: Api, driver: str, checkpoint: Path, cdi_dir: Path, uuid_of: Callable[[str, str], str]
    ) -> None:
        self._api = api
        self._driver = driver
        self._cdi_dir = cdi_dir
        self._uuid_of = uuid_of
        self._lock = threading.Lock()
        self._checkpoint = Checkpoint(checkpoint)

    def prepared(self) -> tuple[PreparedClaim, ...]:
        """The claims that are prepared now."""
        with self._lock:
            return self._checkpoint.all()

    def prepare(self, claim: ClaimRef) -> PreparedClaim:
        """Prepare the driver's devices of the claim's allocation. Raises PreparationError."""
        with self._lock:
            known = self._checkpoint.get(claim.uid)
        if known is None:
            known = PreparedClaim(claim.uid, claim.namespace, claim.name, self._allocated(claim))
        with self._lock:
            # Also for a known claim: the file may be gone (the CDI directory does not outlive a reboot).
            write_spec(self._cdi_dir, self._driver, claim.uid, known.devices)
            self._checkpoint.add(known)
        return known

    def unprepare(self, uid: str) -> None:
        """Undo `prepare`; nothing to do for a claim that is not prepared."""
        with self._lock:
            remove_spec(self._cdi_dir, self._driver, uid)
            if self._checkpoint.get(uid):
                self._checkpoint.remove(uid)

    def cdi_id(self, claim: PreparedClaim, device: AllocatedDevice) -> str:
        """The qualified CDI name of a prepared device."""
        return device_id(self._driver, claim.uid, device)

    def _allocated(self, claim: ClaimRef) -> list[AllocatedDevice]:
        name = f"ResourceClaim {claim.namespace}/{claim.name}"
        try:
            found = self._api.get(claim_path(claim.namespace, claim.name))
        except ApiError as error:
            raise PreparationError(f"cannot read {name}: {error}") from error
        uid = found["metadata"]["uid"]
        if uid != claim.uid:
            raise PreparationError(f"{name} has UID {uid}, the kubelet asked for {claim.uid}: it was replaced")
        allocation = found.get("status", {}).get("allocation")
        if allocation is None:
            raise PreparationError(f"{name} is not allocated")
        return [
            self._device(result)
            for result in allocation.get("devices", {}).get("results", ())
            if result["driver"] == self._driver
        ]

    def _device(self, result: dict[str, Any]) -> AllocatedDevice:
        # The kubelet knows requests, not the subrequests of a prioritized list (`request/subrequest`).
        request, _, _ = result["request"].partition("/")
        pool, device = result["pool"], result["device"]
        return AllocatedDevice(request, pool, device, self._uuid_of(pool, device), result.get("shareID", ""))
