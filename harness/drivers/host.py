"""Fake drivers on a cluster: any number of names, served by the process of the test on `local`, else by Pods."""

from collections.abc import Iterable, Sequence
from typing import Protocol, cast

import fake_driver.host
from fake_driver import control
from fake_driver.http import HttpApi
from fake_driver.inventory import Pool
from fake_driver.node import Node
from harness.clusters.local.cluster import LocalCluster
from harness.clusters.protocol import Cluster
from harness.drivers import deployment, identity
from harness.drivers.deployed import DeployedHost
from harness.drivers.driver import Driver
from harness.kube import Client
from harness.kube.waits import Observer


class _Host(Protocol):
    """What serves drivers, wherever it runs."""

    def serve(self, name: str, pools: Iterable[Pool], nodes: Iterable[str] | None, health: bool) -> control.Driver: ...

    def withdraw(self, name: str) -> None: ...

    def withdraw_all(self) -> None: ...


class DriverHost:
    """Serves drivers to the kubelets of one cluster, with an identity of their own.

    `image` is that of the driver's Pods, where there are Pods, in place of one that is built.
    Raises UsageError and InfrastructureError when the driver cannot be deployed.
    """

    def __init__(self, cluster: Cluster, client: Client, image: str | None = None) -> None:
        self._host = _host(cluster, client, image)

    def serve(
        self,
        name: str,
        pools: Iterable[Pool],
        *,
        plugins: Sequence[str],
        health: bool = True,
        observer: Observer | None = None,
        time_factor: float = 1.0,
    ) -> Driver:
        """Publish the pools and register a kubelet plugin on each node named by `plugins`; returns when that is done.

        Without `health` the plugins offer no health service.
        Raises ConfigError, ApiError of the driver, and WaitTimeout when a kubelet does not take it.
        """
        driver = Driver(self._host.serve(name, pools, plugins, health), name, observer, time_factor)
        driver.registered()
        return driver

    def withdraw(self, driver: Driver) -> None:
        """End a driver and leave nothing of it."""
        self._host.withdraw(driver.name)

    def close(self) -> None:
        """End all drivers that are still there and leave nothing of them."""
        self._host.withdraw_all()


def _host(cluster: Cluster, client: Client, image: str | None) -> _Host:
    if not isinstance(cluster, LocalCluster):
        return DeployedHost(deployment.ensure(cast("deployment.ImageCluster", cluster), client, image))
    api = HttpApi.from_kubeconfig(identity.kubeconfig(cluster, client))
    names = cluster.kubelet_nodes()
    return fake_driver.host.DriverHost(api, [Node(n, cluster.kubelet_root(n), cluster.cdi_dir(n)) for n in names])
