"""`python -m harness.clusters.local.cri --socket PATH --state DIR [--socket PATH --state DIR …]`."""

import asyncio
import sys
from argparse import ArgumentParser
from ipaddress import IPv4Network
from pathlib import Path

from harness.clusters.local.cri.server import serve
from harness.errors import HarnessError, UsageError


def main() -> None:
    """Serve until SIGTERM. Raises HarnessError."""
    parser = ArgumentParser(prog="python -m harness.clusters.local.cri", description="A pretending container runtime.")
    parser.add_argument("--socket", type=Path, action="append", required=True, help="where a kubelet finds it")
    parser.add_argument("--state", type=Path, action="append", required=True, help="its directory, one per socket")
    parser.add_argument(
        "--pod-network", type=IPv4Network, default=IPv4Network("10.244.0.0/16"), help="default %(default)s"
    )
    options = parser.parse_args()
    if len(options.socket) != len(options.state):
        raise UsageError(
            f"{len(options.socket)} --socket and {len(options.state)} --state: give one --state per --socket"
        )
    asyncio.run(serve(dict(zip(options.socket, options.state, strict=True)), options.pod_network))


if __name__ == "__main__":
    try:
        main()
    except HarnessError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
