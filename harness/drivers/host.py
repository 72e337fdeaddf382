"""Fake drivers on a cluster: any number of names, served by the process of the test on `local`, else by Pods."""

from collections.abc import Iterable, Sequence
from typing import Protocol, cast

import fake_driver.host
from fake_driver import control
from fake_driver.http import HttpApi
from fake_driver.inventory import Pool
from fake_driver.local_driver import LocalDriver
from fake_driver.node import Node
from fake_driver.scope import EVERYWHERE, Scope
from harness.clusters.existing.cluster import ExistingCluster
from harness.clusters.existing.facts import RUN_LABEL
from harness.clusters.local.cluster import LocalCluster
from harness.clusters.protocol import Cluster, NotObservable
from harness.drivers import deployment, identity, shapes
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
    Nothing is deployed before the first driver.
    """

    def __init__(self, cluster: Cluster, client: Client, image: str | None = None) -> None:
        self._cluster = cluster
        self._client = client
        self._image = image
        self._started: _Host | None = None

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
        Raises ConfigError, ApiError of the driver, and WaitTimeout when a kubelet does not take it; UsageError and
        InfrastructureError when the driver cannot be deployed, NotObservable where there is to be none.
        """
        if self._started is None:
            self._started = _host(self._cluster, self._client, self._image)
        shaped = shapes.fitted(pools, self._cluster.release)
        driver = Driver(self._started.serve(name, shaped, plugins, health), name, observer, time_factor)
        driver.registered()
        return driver

    def withdraw(self, driver: Driver) -> None:
        """End a driver and leave nothing of it."""
        if self._started:
            self._started.withdraw(driver.name)

    def close(self) -> None:
        """End all drivers that are still there and leave nothing of them."""
        if self._started:
            self._started.withdraw_all()


def _host(cluster: Cluster, client: Client, image: str | None) -> _Host:
    if isinstance(cluster, ExistingCluster):
        return _guest(cluster, client)
    if not isinstance(cluster, LocalCluster):
        return DeployedHost(deployment.ensure(cast("deployment.ImageCluster", cluster), client, image))
    api = HttpApi.from_kubeconfig(identity.kubeconfig(cluster, client))
    names = cluster.kubelet_nodes()
    return fake_driver.host.DriverHost(api, [Node(n, cluster.kubelet_root(n), cluster.cdi_dir(n)) for n in names])


def _guest(cluster: ExistingCluster, client: Client) -> _Host:
    if cluster.facts.driver == "pods":
        return DeployedHost(deployment.ensure(cluster, client))
    if cluster.facts.driver == "own":
        raise NotObservable("the cluster's own driver is looked at (--driver), and cannot be steered")
    api = HttpApi.from_kubeconfig(cluster.kubeconfig)
    return _PublishingHost(api, (), {RUN_LABEL: cluster.facts.run_id})


class _PublishingHost(fake_driver.host.DriverHost):
    """Publishes from this process, without a plugin on any node."""

    def serve(
        self, name: str, pools: Iterable[Pool] = (), nodes: Iterable[str] | None = None, health: bool = True,
        scope: Scope = EVERYWHERE, start: bool = True,
    ) -> LocalDriver:  # fmt: skip
        """Publish the pools; the nodes that should have a plugin are left without."""
        return super().serve(name, pools, (), health, scope, start)
