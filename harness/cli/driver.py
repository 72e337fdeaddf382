"""`driver-image`: the image of the fake driver's Pods."""

import argparse

from harness.cli.command import Commands
from harness.cli.progress import Progress
from harness.clusters.kind import engine
from harness.drivers import image


def add(commands: Commands) -> None:
    """Declare the command."""
    commands.add("driver-image", _driver_image, "build the image of the fake driver's Pods, unless it is there")


def _driver_image(_: argparse.Namespace) -> int:
    tell = Progress()
    chosen = engine.require()
    reference = image.ensure(chosen.client(), tell)
    tell(f"ready: {image.size(chosen.client()) / 1e6:.0f} MB at {chosen.host}")
    print(reference)
    return 0
