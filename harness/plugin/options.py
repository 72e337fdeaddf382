"""The command line of a run: what each option means, and one clear line for each that cannot be."""

import secrets
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import releases, report
from harness.clusters import profile
from harness.clusters.existing import provider as existing
from harness.clusters.existing import target as targets
from harness.clusters.existing.target import Target
from harness.clusters.profile import Profile
from harness.clusters.providers import EXISTING, PROVIDERS
from harness.clusters.wishes import Wishes
from harness.errors import UsageError
from harness.plugin.shards import Shard
from harness.programs import Components
from harness.releases import Release
from harness.report import catalogue

_NAMES = (*PROVIDERS, EXISTING)


@dataclass(frozen=True)
class Options:
    """The options of a run, checked."""

    provider: str
    release: Release
    profile: Profile
    components: Components
    statements: frozenset[str] | None
    shard: Shard | None
    controls: bool
    rounds: int
    seed: int | None
    keep_cluster: bool
    time_factor: float
    reports: Path
    driver_image: str | None
    wishes: Wishes
    nodes: int | None
    """Nodes with a kubelet in every cluster; None for those of its profile."""
    target: Target | None
    """The cluster of provider `existing`."""

    def load(self, name: str) -> Profile:
        """A profile that a scenario asks for, with as many nodes as the user wants."""
        return _with_nodes(profile.load(name), self.nodes)


def add(parser: pytest.Parser) -> None:
    """Declare the options; nothing is checked or started here."""
    group = parser.getgroup("dra-e2e", "does the cluster do what the documentation of DRA says?")
    group.addoption("--provider", default="local", help=f"where clusters come from: {', '.join(_NAMES)}")
    group.addoption("--k8s", default=None, metavar="RELEASE", help="Kubernetes release, for example 1.37 (newest)")
    group.addoption("--emulate", default=None, metavar="RELEASE", help="let its control plane behave as an older one")
    group.addoption("--profile", default="features", help="a name in kind-configs/, or a kind Cluster file")
    group.addoption("--statement", default=None, metavar="ID,GROUP", help="only these statements or groups")
    group.addoption("--shard", default=None, metavar="N/OF", help="only this part of the run, for several machines")
    group.addoption("--component", action="append", default=[], metavar="NAME=PATH|RELEASE", help="replace a program")
    group.addoption("--component-arg", action="append", default=[], metavar="NAME=FLAG", help="add a flag to a program")
    group.addoption("--nodes", type=int, default=None, metavar="N", help="nodes with a kubelet (those of the profile)")
    group.addoption("--image", default=None, metavar="REF", help="node image of kind clusters (that of the release)")
    group.addoption("--cluster-name", default=None, metavar="NAME", help="what kind calls the cluster")
    group.addoption("--driver-image", default=None, metavar="REF", help="image of the driver's Pods, where it has Pods")
    group.addoption("--kubeconfig", type=Path, default=None, metavar="FILE", help="of the cluster, for existing")
    group.addoption("--context", default=None, metavar="NAME", help="in the kubeconfig (its current one)")
    group.addoption("--driver", default=None, metavar="NAME", help="look at this driver of an existing cluster")
    group.addoption("--device-class", default=None, metavar="CLASS", help="a class of that driver's devices")
    group.addoption("--controls", action="store_true", help="apply each control's difference: every scenario must fail")
    group.addoption("--rounds", type=int, default=1, metavar="N", help="run every scenario N times, in random order")
    group.addoption("--seed", type=int, default=None, help="seed of the random order (printed)")
    group.addoption("--keep-cluster", action="store_true", help="leave the clusters for `make down` or `make reap`")
    group.addoption("--time-factor", type=float, default=1.0, help="stretch every deadline, for slow clusters")
    group.addoption("--list-marks", type=Path, default=None, metavar="FILE", help="write the markers of all scenarios")
    group.addoption("--reports", type=Path, default=Path("reports"), metavar="DIR", help="where reports/<run>/ goes")


def read(config: pytest.Config) -> Options:
    """Check the command line. Raises UsageError with one line that says what to do."""
    rounds: int = config.getoption("rounds")
    seed: int | None = config.getoption("seed")
    _places(config)
    provider = _provider(config.getoption("provider"))
    target = _target(config, provider)
    release = _release(config.getoption("k8s"), config.getoption("emulate"), target)
    nodes = _nodes(config.getoption("nodes"))
    chosen = _with_nodes(profile.load(config.getoption("profile")), nodes)
    chosen.resolve(release)
    return Options(
        provider=provider,
        release=release,
        profile=chosen,
        components=Components.parse(config.getoption("component"), config.getoption("component_arg")),
        statements=_statements(config.getoption("statement")),
        shard=Shard.parse(shard) if (shard := config.getoption("shard")) else None,
        controls=config.getoption("controls"),
        rounds=_at_least_one("--rounds", rounds),
        seed=secrets.randbelow(2**32) if rounds > 1 and seed is None else seed,
        keep_cluster=config.getoption("keep_cluster"),
        time_factor=_positive("--time-factor", config.getoption("time_factor")),
        reports=report.place("--reports", config.getoption("reports")),
        driver_image=config.getoption("driver_image"),
        wishes=Wishes.read(provider, config.getoption("image"), config.getoption("cluster_name")),
        nodes=nodes,
        target=target,
    )


def _places(config: pytest.Config) -> None:
    """What is to be collected. With workers, pytest itself would only say that no tests ran."""
    for place in config.args:
        path = place.split("::")[0].split("[")[0]
        if not config.getoption("pyargs") and not (config.invocation_params.dir / path).exists():
            raise UsageError(f"there is no file or directory {path}")


def _provider(name: str) -> str:
    if name not in _NAMES:
        raise UsageError(f"unknown provider {name!r}: choose one of {', '.join(_NAMES)}")
    return name


def _target(config: pytest.Config, provider: str) -> Target | None:
    """The cluster that is there. Raises UsageError for options that mean nothing with the provider."""
    started, given = provider != EXISTING, config.getoption
    of_existing = ("kubeconfig", "context", "driver", "device_class")
    meaningless = of_existing if started else ("component", "component_arg", "nodes", "emulate")
    for name in meaningless:
        if given(name) not in (None, []):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} means nothing with --provider {provider}: leave it out")
    if started:
        return None
    return targets.read(
        given("kubeconfig"),
        given("context"),
        driver_image=given("driver_image"),
        driver=given("driver"),
        device_class=given("device_class"),
    )


def _release(name: str | None, emulated: str | None, target: Target | None) -> Release:
    """That of the cluster that is there, else the one asked for. Raises UsageError where both do not agree."""
    if target is None:
        return releases.get(name) if emulated is None else releases.emulate(emulated, name)
    found = existing.release_of(target)
    if name is not None and releases.get(name) != found:
        raise UsageError(f"the cluster of context {target.context} runs {found.minor}, not {name}: leave --k8s out")
    return found


def _statements(selection: str | None) -> frozenset[str] | None:
    return None if selection is None else frozenset(catalogue.load().select(selection))


def _nodes(number: int | None) -> int | None:
    return None if number is None else _at_least_one("--nodes", number)


def _with_nodes(chosen: Profile, number: int | None) -> Profile:
    return chosen if number is None else chosen.with_nodes(number)


def _at_least_one(option: str, value: int) -> int:
    if value < 1:
        raise UsageError(f"{option} must be at least 1, not {value}")
    return value


def _positive(option: str, value: float) -> float:
    if value <= 0:
        raise UsageError(f"{option} must be greater than 0, not {value}")
    return value
