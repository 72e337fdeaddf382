"""One driver on one node, as its kubelet sees it: two sockets that come and go."""

import shutil
from collections.abc import Callable

from fake_driver.node import Node
from fake_driver.services import Backing, dra_services, registration_service
from fake_driver.socket_server import SocketServer


class KubeletPlugin:
    """Serves a driver to the kubelet of a node. `load` makes what it works with, anew for each life of the plugin.

    Raises ConfigError when the node's socket paths are too long.
    """

    def __init__(self, driver: str, node: Node, load: Callable[[], Backing]) -> None:
        self._driver = driver
        self._node = node
        self._load = load
        self._endpoint = node.dra_socket(driver)
        self._registration_path = node.registration_socket(driver)
        self._servers: tuple[SocketServer, SocketServer] | None = None
        self._backing: Backing | None = None

    @property
    def running(self) -> bool:
        """Whether the plugin serves."""
        return self._servers is not None

    def start(self) -> None:
        """Serve, and ask the kubelet for registration. Does nothing while running. Raises ConfigError."""
        if self._servers:
            return
        self._node.plugin_dir(self._driver).mkdir(parents=True, exist_ok=True, mode=0o750)
        backing = self._load()
        dra = SocketServer(self._endpoint, dra_services(backing))
        registration = SocketServer(self._registration_path, [registration_service(backing, self._endpoint)])
        dra.start()
        try:
            registration.start()
        except BaseException:
            dra.stop()
            raise
        self._servers, self._backing = (registration, dra), backing

    def stop(self) -> None:
        """Unregister, as a driver does that ends in order. Prepared claims stay prepared."""
        for server in self._servers or ():
            server.stop()
        self._servers = None

    def crash(self) -> None:
        """End as a killed process does: connections break, the socket files stay, only the checkpoint remembers."""
        for server in self._servers or ():
            server.crash()
        self._servers = None

    def drop_connection(self) -> None:
        """Break the kubelet's connections and calls; the plugin goes on serving at once."""
        if self._servers:
            _, dra = self._servers
            dra.crash()
            dra.start()

    def remove(self) -> None:
        """Stop, and leave nothing of the driver on the node, prepared claims included."""
        self.stop()
        directory = self._node.plugin_dir(self._driver)
        if directory.exists():
            # Also what an earlier process has prepared, when this one has never served.
            preparation = (self._backing or self._load()).preparation
            for claim in preparation.prepared():
                preparation.unprepare(claim.uid)
            shutil.rmtree(directory, ignore_errors=True)
        if self._registration_path.exists():
            self._registration_path.unlink()
