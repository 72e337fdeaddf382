"""`engine`, `engine-stop` and `node-image`: what kind clusters need of this host."""

import argparse

from harness import releases
from harness.cli.command import Commands
from harness.cli.progress import Progress
from harness.clusters.kind import engine, node_image, objects
from harness.errors import UsageError


def add(commands: Commands) -> None:
    """Declare the commands."""
    commands.add("engine", _engine, "start a private Docker engine where Docker is installed but not running")
    commands.add("engine-stop", _engine_stop, "stop the private Docker engine")
    image = commands.add("node-image", _node_image, "build the node image of a release, unless it is there")
    image.add_argument("--k8s", metavar="RELEASE", help="Kubernetes release, for example 1.37 (newest)")


def _engine(_: argparse.Namespace) -> int:
    found = engine.find()
    if found is None:
        for notice in engine.Private().start():
            print(notice)
        print("a private engine runs until `make engine-stop`")
        found = engine.require()
    print(f"Docker answers; to use it yourself: export DOCKER_HOST={found.host}")
    return 0


def _engine_stop(_: argparse.Namespace) -> int:
    private = engine.Private()
    if private.is_running() and (clusters := objects.clusters(engine.Engine(private.host))):
        raise UsageError(f"the engine has clusters: {', '.join(clusters)}; end their tests, or `make down reap`, first")
    print("stopped" if private.stop() else "no private engine runs")
    return 0


def _node_image(chosen: argparse.Namespace) -> int:
    release = releases.get(chosen.k8s)
    tell = Progress()
    tell(f"node image of Kubernetes {release.version}")
    tag = node_image.ensure(engine.require(), release)
    tell("ready")
    print(tag)
    return 0
