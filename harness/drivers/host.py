"""Fake drivers on a cluster: any number of names, served by the process of the test on `local`."""

from collections.abc import Iterable, Sequence

import fake_driver.host
from fake_driver.http import HttpApi
from fake_driver.inventory import Pool
from fake_driver.node import Node
from harness.clusters.protocol import Cluster
from harness.drivers import identity
from harness.drivers.driver import Driver
from harness.kube import Client
from harness.kube.waits import Observer


class DriverHost:
    """Serves drivers to the kubelets of one cluster, with an identity of their own."""

    def __init__(self, cluster: Cluster, client: Client) -> None:
        here = identity.local(cluster)
        api = HttpApi.from_kubeconfig(identity.kubeconfig(here, client))
        nodes = [Node(name, here.kubelet_root(name), here.cdi_dir(name)) for name in here.kubelet_nodes()]
        self._host = fake_driver.host.DriverHost(api, nodes)

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
