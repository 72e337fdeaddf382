"""Pods that wait for devices to become ready (binding conditions), and what became of earlier waits."""

from harness.explain.claims import may_use, present
from harness.explain.messages import last_word, saying, short, told
from harness.explain.model import Finding
from harness.explain.snapshot import Snapshot, seconds
from harness.kube.predicates import allocation_results
from harness.kube.resources import Obj, reference

#: Seconds that the scheduler waits unless it is configured otherwise; no API tells its configuration.
DEFAULT_TIMEOUT = 600

FAILED, TIMEOUT = "binding failed", "binding timeout"


def ended(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """Waits for conditions that have failed or timed out."""
    return _ended(snapshot, pod, "binding-failed", FAILED) + _ended(snapshot, pod, "binding-timeout", TIMEOUT)


def waiting(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """The Pod's claims are allocated and reserved for it, and devices of theirs are not ready."""
    own = [claim for claim in present(snapshot, pod) if may_use(pod, claim)]
    return [finding for claim in own for finding in unready(snapshot, claim)]


def unready(snapshot: Snapshot, claim: Obj) -> list[Finding]:
    """Devices of an allocated claim whose conditions are not all True."""
    lines = [line for result in allocation_results(claim) if (line := _lacks(claim, result))]
    if not lines:
        return []
    since = claim["status"]["allocation"].get("allocationTimestamp")
    waited = snapshot.age(since)
    left = DEFAULT_TIMEOUT - waited
    still = f"it has {seconds(left)} left" if left > 0 else "that is over"
    return [
        Finding(
            "binding-conditions",
            f"waiting for {lines[0]}",
            (
                *lines,
                f"{reference(claim)} was allocated at {since}, {seconds(waited)} ago",
                f"of the default timeout of {DEFAULT_TIMEOUT} s {still}; the scheduler may be configured otherwise,"
                " which no API tells",
            ),
            "have the driver's controller set the condition in the claim's status.devices",
        )
    ]


def _lacks(claim: Obj, result: Obj) -> str:
    """What a device has yet to report, empty for nothing."""
    key = {name: result[name] for name in ("driver", "pool", "device")}
    entries = (claim.get("status") or {}).get("devices") or ()
    entry: Obj = next((each for each in entries if key.items() <= each.items()), {})
    reported = {each["type"]: each for each in entry.get("conditions") or ()}
    device = "/".join(key.values())
    for type in result.get("bindingFailureConditions") or ():
        if (found := reported.get(type, {})).get("status") == "True":
            return f"device {device}, which reports {type}=True ({found.get('reason', '')}: {found.get('message', '')})"
    lacking = [
        f"{type}={reported[type]['status']} ({reported[type].get('reason', '')})" if type in reported else type
        for type in result.get("bindingConditions") or ()
        if reported.get(type, {}).get("status") != "True"
    ]
    return f"device {device} to report {', '.join(lacking)}" if lacking else ""


def _ended(snapshot: Snapshot, pod: Obj, cause: str, text: str) -> list[Finding]:
    events = saying(snapshot, pod, "FailedScheduling", text)
    word = last_word(pod)
    if not events and text not in word:
        return []
    message = events[-1]["message"] if events else word.message
    what = "failed" if cause == "binding-failed" else "timed out"
    detail = short(message.partition(text)[2].lstrip(": ").split(". ")[0])
    when = told(events) if events else f"at {word.since}"
    return [
        Finding(
            cause,
            f"binding the Pod's devices {what} ({when}): {detail}",
            (f"event: {short(message)}",) if events else (word.fact,),
            "see why the driver could not attach the device; the scheduler tries again by itself",
        )
    ]
