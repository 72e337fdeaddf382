"""`driver-image`, `suite-image`: the images of the fake driver's Pods, and of Pods that run the suite."""

import argparse
from functools import partial

from harness.cli.command import Commands
from harness.cli.progress import Progress
from harness.clusters.kind import engine
from harness.drivers import image


def add(commands: Commands) -> None:
    """Declare the commands."""
    commands.add(
        "driver-image", partial(_build, image.DRIVER), "build the image of the fake driver's Pods, unless it is there"
    )
    commands.add(
        "suite-image", partial(_build, image.SUITE), "build the image of Pods that run the suite (docs/in-cluster.md)"
    )


def _build(wanted: image.Image, _: argparse.Namespace) -> int:
    tell = Progress()
    chosen = engine.require()
    reference = image.ensure(chosen.client(), tell, wanted)
    tell(f"ready: {image.size(chosen.client(), wanted) / 1e6:.0f} MB at {chosen.host}")
    print(reference)
    return 0
