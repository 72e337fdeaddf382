"""DeviceTaintRules."""

from harness.kube.resources import Obj


def device_taint_rule(
    name: str,
    *,
    key: str = "example.com/maintenance",
    value: str | None = None,
    effect: str = "NoSchedule",
    driver: str | None = None,
    pool: str | None = None,
    device: str | None = None,
) -> Obj:
    """A rule that taints all devices of a driver, a pool, or one device; without any of them: every device there is."""
    selector = {"driver": driver, "pool": pool, "device": device}
    taint = {"key": key, "value": value, "effect": effect}
    return {
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": {
            "deviceSelector": {field: text for field, text in selector.items() if text is not None},
            "taint": {field: text for field, text in taint.items() if text is not None},
        },
    }
