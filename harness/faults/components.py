"""Faults of the control plane and of kubelets: killed, frozen."""

import signal
import threading
from collections.abc import Callable
from functools import partial

from harness.clusters.protocol import Component, NotObservable
from harness.clusters.signals import Signals
from harness.faults.fault import Heal, Target, fault, meanwhile

#: A slow API server: out of every two seconds it works for a tenth of one.
_FROZEN, _WORKS = 1.9, 0.1


def signals(target: Target) -> Signals:
    """The cluster, whose components can be sent signals; raises NotObservable."""
    if not isinstance(target.cluster, Signals):
        raise NotObservable(f"no signals reach the components of a cluster of provider {target.cluster.provider}")
    return target.cluster


def kill(target: Target, component: Component, node: str | None = None) -> Heal:
    """Kill a component; ended by starting it again, where nothing else has."""
    signals(target).signal(component, signal.SIGKILL, node)
    return partial(target.cluster.start, component, node)


@fault("scheduler-killed", "The scheduler is killed and started again")
def scheduler_killed(target: Target) -> Heal:
    """Pods wait meanwhile."""
    return kill(target, "kube-scheduler")


@fault("controller-manager-killed", "The controller-manager is killed and started again")
def controller_manager_killed(target: Target) -> Heal:
    """No claim is made of a template, none is deallocated meanwhile."""
    return kill(target, "kube-controller-manager")


@fault("apiserver-killed", "The API server is killed and started again", bound=90)
def apiserver_killed(target: Target) -> Heal:
    """Everybody is on their own meanwhile."""
    return kill(target, "kube-apiserver")


@fault("etcd-killed", "etcd is killed and started again", bound=90)
def etcd_killed(target: Target) -> Heal:
    """The API server answers little from its caches, and takes no write."""
    return kill(target, "etcd")


@fault("kubelet-killed", "The kubelet of a node is killed and started again", bound=120)
def kubelet_killed(target: Target) -> Heal:
    """Shorter than what makes a node NotReady: its Pods stay."""
    return kill(target, "kubelet", target.node)


@fault("slow-apiserver", "The API server takes up to two seconds for every answer", seconds=30, bound=90)
def slow_apiserver(target: Target) -> Heal:
    """It is stopped and continued in turn, watches and all."""
    send = partial(signals(target).signal, "kube-apiserver")
    return _in_turn(lambda: send(signal.SIGSTOP), lambda: send(signal.SIGCONT))


def _in_turn(freeze: Callable[[], None], thaw: Callable[[], None]) -> Heal:
    def alternate(over: threading.Event) -> None:
        while not over.is_set():
            freeze()
            over.wait(_FROZEN)
            thaw()
            over.wait(_WORKS)

    end = meanwhile("slow API server", alternate)

    def heal() -> None:
        end()
        thaw()  # also where the last turn ended with an error

    return heal
