"""What the API server has of a driver's devices: the numbers that sums are checked against."""

from harness.drivers import Driver
from harness.plugin.scenario import Object, Scenario


def published_devices(scenario: Scenario, driver: Driver) -> list[Object]:
    """All devices of the driver, as its slices have them in the API."""
    slices, _ = scenario.client.list("ResourceSlice", field_selector=f"spec.driver={driver.name}")
    return [device for found in slices for device in found["spec"].get("devices") or ()]
