"""Pools in the shape that a release has for their devices."""

from collections.abc import Iterable
from dataclasses import replace

from fake_driver.inventory import Device, Pool
from harness.kube.footprints import MAPPINGS, as_mappings
from harness.releases import Release


def fitted(pools: Iterable[Pool], release: Release) -> tuple[Pool, ...]:
    """The pools as this release has them; what it has in no shape stays as it is, and the API server drops it."""
    if not release.has(MAPPINGS):
        return tuple(pools)
    return tuple(replace(pool, devices=tuple(map(_fitted, pool.devices))) for pool in pools)


def _fitted(device: Device) -> Device:
    mappings = as_mappings(device.node_allocatable_resources)
    if mappings is None:
        return device
    return replace(device, node_allocatable_resources={}, node_allocatable_resource_mappings=mappings)
