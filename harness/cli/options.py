"""Options of every command that starts clusters; they mean what those of pytest mean."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from harness import drivers, programs, releases
from harness.clusters import profile, providers
from harness.clusters.local.cluster import PROGRAMS, LocalCluster
from harness.clusters.pool import Pool
from harness.clusters.profile import Profile
from harness.clusters.run import Run
from harness.clusters.wishes import Wishes
from harness.errors import UsageError
from harness.programs import Components
from harness.releases import Release


@dataclass(frozen=True)
class Order:
    """Which cluster, checked."""

    provider: str
    release: Release
    profile: Profile
    components: Components
    arguments: tuple[str, ...]
    """The same, as pytest takes it."""
    driver_image: str | None
    wishes: Wishes

    def pool(self, run: Run) -> Pool:
        """Where a run gets such clusters."""
        return providers.pool(self.provider, run, self.release, self.components, wishes=self.wishes)

    def make_ready(self, tell: Callable[[str], None], *more: str) -> dict[str, programs.Program]:
        """Have at hand what all its clusters share, the programs (as `fetch`) and the image of the driver's Pods."""
        for notice in providers.prepare(self.provider, self.release, wishes=self.wishes):
            tell(notice)
        tell(f"programs of Kubernetes {self.release.version}")
        found = self.fetch(*more)
        drivers.prepare(self.provider, self.driver_image, tell)
        return found

    def fetch(self, *more: str) -> dict[str, programs.Program]:
        """Have the programs at hand, with progress, and some that no cluster runs."""
        of_clusters = PROGRAMS if self.provider == LocalCluster.provider else ()
        wanted = [name for name in of_clusters if name not in self.components.replacements]
        return programs.get_all([*wanted, *more], self.release)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--provider", default="local", help=f"where it comes from: {', '.join(providers.PROVIDERS)}")
    parser.add_argument("--k8s", metavar="RELEASE", help="Kubernetes release, for example 1.37 (newest)")
    parser.add_argument("--emulate", metavar="RELEASE", help="let its control plane behave as an older release")
    parser.add_argument("--profile", default="features", help="a name in kind-configs/, or a kind Cluster file")
    parser.add_argument("--component", action="append", default=[], metavar="NAME=PATH|RELEASE", help="another program")
    parser.add_argument("--component-arg", action="append", default=[], metavar="NAME=FLAG", help="one more flag")
    parser.add_argument("--image", metavar="REF", help="node image of kind clusters (that of the release)")
    parser.add_argument("--cluster-name", metavar="NAME", help="what kind calls the cluster")
    parser.add_argument("--driver-image", metavar="REF", help="image of the fake driver's Pods, where it runs in Pods")
    parser.add_argument("--nodes", type=int, metavar="N", help="nodes with a kubelet (those of the profile)")


def read(chosen: argparse.Namespace) -> Order:
    """Check the options. Raises UsageError with one line that says what to do."""
    if chosen.provider not in providers.PROVIDERS:
        raise UsageError(f"unknown provider {chosen.provider!r}: choose one of {', '.join(providers.PROVIDERS)}")
    if chosen.nodes is not None and chosen.nodes < 1:
        raise UsageError(f"--nodes must be at least 1, not {chosen.nodes}")
    wishes = Wishes.read(chosen.provider, chosen.image, chosen.cluster_name)
    release = releases.emulate(chosen.emulate, chosen.k8s) if chosen.emulate is not None else releases.get(chosen.k8s)
    wanted = profile.load(chosen.profile)
    wanted = wanted if chosen.nodes is None else wanted.with_nodes(chosen.nodes)
    wanted.resolve(release)
    components = Components.parse(chosen.component, chosen.component_arg)
    arguments = (
        f"--provider={chosen.provider}",
        f"--k8s={release.programs.minor}",
        *([f"--emulate={release.minor}"] if release.emulated_by else []),
        f"--profile={chosen.profile}",
        *(f"--component={value}" for value in chosen.component),
        *(f"--component-arg={value}" for value in chosen.component_arg),
        *(
            f"--{option.replace('_', '-')}={value}"
            for option in ("nodes", "image", "cluster_name", "driver_image")
            if (value := getattr(chosen, option)) is not None
        ),
    )
    return Order(chosen.provider, release, wanted, components, arguments, chosen.driver_image, wishes)
