"""`python -m fake_driver.pod`: the program of the driver's Pods; `deploy/` shows how it is started.

With `--node` it is the kubelet plugin of that node, without it the controller. It serves what it is told over its
control port (`control_server`), which only those with the token may use, and the drivers of a file where one is there.
Exit codes: 0 ended as asked, 3 the API server or a socket failed, 4 the configuration is wrong.
"""

import argparse
import logging
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from fake_driver.agent import Agent, order_for
from fake_driver.api import ApiError
from fake_driver.config import load
from fake_driver.control_server import ControlServer
from fake_driver.errors import ConfigError
from fake_driver.http import HttpApi
from fake_driver.node import Node


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return its exit code."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    try:
        _run(options, ended)
    except ConfigError as error:
        print(f"fake_driver: {error}", file=sys.stderr)
        return 4
    except (ApiError, OSError) as error:
        print(f"fake_driver: {error}", file=sys.stderr)
        return 3
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fake_driver.pod", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--node", metavar="NAME", help="serve the kubelet of this node; left out: be the controller")
    add("--kubelet-root", type=Path, default=Path("/var/lib/kubelet"), metavar="DIR")
    add("--cdi-dir", type=Path, default=Path("/var/run/cdi"), metavar="DIR")
    add("--state", type=Path, required=True, metavar="DIR", help="what is served; the next Pod goes on with it")
    add("--drivers", type=Path, metavar="FILE", help="a configuration file of fake_driver, need not be there")
    add("--listen", type=_address, required=True, metavar="IP:PORT", help="where to answer who steers")
    add("--token", type=Path, metavar="FILE", help="need not be there: nobody may steer then")
    add("--kubeconfig", type=Path, metavar="FILE", help="left out: the Pod's service account")
    return parser


def _run(options: argparse.Namespace, ended: threading.Event) -> None:
    api = HttpApi.from_kubeconfig(options.kubeconfig) if options.kubeconfig else HttpApi.in_cluster()
    node = Node(options.node, options.kubelet_root, options.cdi_dir) if options.node else None
    agent = Agent(api, node, options.state)
    try:
        agent.resume()
        if options.node and options.drivers and options.drivers.exists():
            _serve_file(agent, options.node, options.drivers)
        with ControlServer(options.listen, agent, _token(options.token)) as server:
            thread = threading.Thread(target=server.serve_forever, name="control", daemon=True)
            thread.start()
            print(f"fake_driver: answers at {server.server_address[0]!s}:{server.server_address[1]}", flush=True)
            ended.wait()
            server.shutdown()
    finally:
        agent.close()


def _serve_file(agent: Agent, node: str, file: Path) -> None:
    """Serve the file's drivers, also in place of what a predecessor knew of them."""
    for driver in load(file).drivers:
        if any(pool.placed for pool in driver.pools):
            raise ConfigError(f"{file}: {driver.name}: a pool here is put on each node, and cannot say where it is")
        order = order_for(driver.pools, [node])
        if driver.name in agent.names:
            agent.set_pools(driver.name, order.pools)
        else:
            agent.serve(driver.name, order)


def _token(file: Path | None) -> str | None:
    return file.read_text().strip() if file and file.exists() else None


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


if __name__ == "__main__":
    sys.exit(main())
