"""`python -m fake_driver --config FILE`: serve drivers until SIGTERM or Ctrl-C.

Exit codes: 0 ended as asked, 3 the API server or a socket failed, 4 the configuration is wrong.
"""

import argparse
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from fake_driver.api import CLASSES, Api, ApiError
from fake_driver.config import Config, load
from fake_driver.errors import ConfigError
from fake_driver.host import DriverHost
from fake_driver.http import HttpApi
from fake_driver.inventory import device_class


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return its exit code."""
    parser = argparse.ArgumentParser(prog="fake_driver", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="YAML: drivers, nodes, inventory")
    parser.add_argument(
        "--keep", action="store_true", help="leave slices, classes and prepared claims as they are at the end"
    )
    options = parser.parse_args(arguments)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    try:
        config = load(options.config)
        api = HttpApi.from_kubeconfig(config.kubeconfig) if config.kubeconfig else HttpApi.in_cluster()
        _serve(api, config, ended, keep=options.keep)
    except ConfigError as error:
        print(f"fake_driver: {error}", file=sys.stderr)
        return 4
    except ApiError as error:
        print(f"fake_driver: the API server refused or is not there: {error}", file=sys.stderr)
        return 3
    return 0


def _serve(api: Api, config: Config, ended: threading.Event, *, keep: bool) -> None:
    with DriverHost(api, config.nodes, config.labels) as host:
        classes = [_ship_class(api, d.device_class, d.name, config) for d in config.drivers if d.device_class]
        try:
            for driver in config.drivers:
                host.serve(driver.name, driver.pools, driver.nodes)
            print("fake_driver: serving " + ", ".join(driver.name for driver in config.drivers), flush=True)
            ended.wait()
        finally:
            if keep:
                host.close()
            else:
                for path in classes:
                    api.delete(path)


def _ship_class(api: Api, name: str, driver: str, config: Config) -> str:
    """Create or update the DeviceClass; return its path."""
    manifest = device_class(name, driver)
    manifest["metadata"]["labels"] = dict(config.labels)
    path = f"{CLASSES}/{name}"
    api.apply(path, manifest, field_manager="fake-driver", force=True)
    return path


if __name__ == "__main__":
    sys.exit(main())
