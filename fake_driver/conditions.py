"""The controller half of a driver: attaches devices that have been allocated, and says so in the claim's status."""

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fake_driver.api import CLAIMS, Api, ApiError, Object, Watch, claim_path
from fake_driver.attachment import Allocated, Play, Step, Written, allocated_devices

_log = logging.getLogger(__name__)

#: Seconds after which a watch is started anew by the server's own choice.
_WATCH_SECONDS = 300
#: Seconds before the watch is tried again after the API server was not there.
_RETRY_SECONDS = 0.5


@dataclass(frozen=True)
class _Rule:
    """Which devices go through a play; None matches everything."""

    play: Play
    pool: str | None
    device: str | None
    node: str | None

    def applies(self, to: Allocated) -> bool:
        return self.pool in (None, to.pool) and self.device in (None, to.device) and self.node in (None, to.node)


class Controller:
    """Watches all claims from the first `attach` on and lets each newly allocated device of the driver go its play.

    A play ends early when the claim loses the allocation it was started for.
    """

    def __init__(self, api: Api, driver: str) -> None:
        self._api = api
        self._driver = driver
        self._lock = threading.RLock()
        self._rules: list[_Rule] = []
        self._allocations: dict[str, Object] = {}
        self._written: list[Written] = []
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._watch: Watch | None = None

    def attach(self, play: Play, pool: str | None, device: str | None, node: str | None) -> None:
        """Devices that are allocated from now on go this play; of several that apply the last given one counts."""
        with self._lock:
            self._rules.append(_Rule(play, pool, device, node))
            if not self._threads:
                self._run(self._look_after)

    @property
    def written(self) -> tuple[Written, ...]:
        """What the plays have written, or tried to."""
        with self._lock:
            return tuple(self._written)

    def report(self, device: Allocated, statuses: Mapping[str, str], reason: str, message: str) -> None:
        """Write conditions of a device into its claim's status, beside those that are there. Raises ApiError."""
        # The entries of one field manager are written as a whole: nobody else of this driver may do so meanwhile.
        with self._lock:
            path = claim_path(device.namespace, device.claim)
            claim = self._api.get(path)
            entries = [e for e in (claim.get("status") or {}).get("devices", ()) if e["driver"] == self._driver]
            body = {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceClaim",
                "metadata": {
                    "namespace": device.namespace, "name": device.claim, "uid": claim["metadata"]["uid"],
                },
                "status": {"devices": self._with(entries, device, as_conditions(statuses, reason, message))},
            }  # fmt: skip
            self._api.apply(f"{path}/status", body, field_manager=self._driver, force=True)

    def close(self) -> None:
        """End all plays and the watch; what is written stays."""
        with self._lock:
            self._stopping.set()
            if self._watch:
                self._watch.close()
            threads, self._threads = self._threads, []
        for thread in threads:
            thread.join()

    def _with(self, entries: list[Object], device: Allocated, conditions: list[Object]) -> list[Object]:
        """The entries, with these conditions of the device."""
        own: Object = {"driver": self._driver, "pool": device.pool, "device": device.device}
        before = next((e for e in entries if own.items() <= e.items()), own)
        others = [entry for entry in entries if entry is not before]
        conditions_before: list[Object] = before.get("conditions", [])
        merged = {condition["type"]: condition for condition in conditions_before}
        for condition in conditions:
            last = merged.get(condition["type"])
            if last and last["status"] == condition["status"]:
                condition["lastTransitionTime"] = last["lastTransitionTime"]
            merged[condition["type"]] = condition
        return [*others, {**before, "conditions": list(merged.values())}]

    # Plays

    def _run(self, work: Any, *arguments: Any) -> None:
        thread = threading.Thread(target=work, args=arguments, name=f"controller of {self._driver}", daemon=True)
        self._threads = [other for other in self._threads if other.is_alive()] + [thread]
        thread.start()

    def _go(self, uid: str, allocation: Object, device: Allocated, play: Play) -> None:
        for step in play(device):
            if self._stopping.wait(step.after) or self._allocations.get(uid) != allocation:
                return
            self._write(device, step)

    def _write(self, device: Allocated, step: Step) -> None:
        target = device if step.device is None else _renamed(device, step.device)
        try:
            self.report(target, step.statuses, step.reason, step.message)
            result = "ok"
        except ApiError as error:
            result = error.message
        with self._lock:
            self._written.append(Written(target, step.statuses, result))

    # Looking after the claims

    def _look_after(self) -> None:
        while not self._stopping.is_set():
            try:
                found = self._api.list(CLAIMS)
                for claim in found["items"]:
                    self._check(claim)
                self._follow(found["metadata"]["resourceVersion"])
            except ApiError as error:
                _log.info("claims of %s: %s; trying again", self._driver, error)
                self._stopping.wait(_RETRY_SECONDS)

    def _follow(self, version: str) -> None:
        watch = self._api.watch(CLAIMS, {}, version, _WATCH_SECONDS)
        with self._lock:
            if self._stopping.is_set():
                watch.close()
                return
            self._watch = watch
        for event in watch:
            if event["type"] == "DELETED":
                self._allocations.pop(event["object"]["metadata"]["uid"], None)
            else:
                self._check(event["object"])

    def _check(self, claim: Object) -> None:
        """Start the plays of an allocation that is new."""
        uid = claim["metadata"]["uid"]
        allocation = (claim.get("status") or {}).get("allocation")
        with self._lock:
            if self._stopping.is_set() or self._allocations.get(uid) == allocation:
                return
            if allocation is None:
                del self._allocations[uid]
                return
            self._allocations[uid] = allocation
            for device in allocated_devices(claim, self._driver):
                rule = next((rule for rule in reversed(self._rules) if rule.applies(device)), None)
                if rule:
                    self._run(self._go, uid, allocation, device, rule.play)


def _renamed(device: Allocated, name: str) -> Allocated:
    return Allocated(device.namespace, device.claim, device.pool, name, device.node)


def as_conditions(statuses: Mapping[str, str], reason: str, message: str = "") -> list[Object]:
    """Conditions of a device as a claim's status has them, of types and statuses that it has from now on."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [
        {"type": type, "status": status, "reason": reason, "message": message, "lastTransitionTime": now}
        for type, status in statuses.items()
    ]
