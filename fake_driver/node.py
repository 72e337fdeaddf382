"""Where the driver meets the kubelet on a node."""

from dataclasses import dataclass
from pathlib import Path

from fake_driver.errors import ConfigError

#: Longest path of a Unix socket, in bytes (sun_path without its final zero).
MAX_SOCKET_PATH = 107


@dataclass(frozen=True)
class Node:
    """A node with a kubelet: its name, the kubelet's root directory, the directory for CDI spec files."""

    name: str
    kubelet_root: Path
    cdi_dir: Path

    def plugin_dir(self, driver: str) -> Path:
        """The driver's own directory below the kubelet's root."""
        return self.kubelet_root.absolute() / "plugins" / driver

    def dra_socket(self, driver: str) -> Path:
        """Where the driver serves DRA. Raises ConfigError when the path is too long for a socket."""
        return _checked(self.plugin_dir(driver) / "dra.sock")

    def registration_socket(self, driver: str) -> Path:
        """Where the kubelet looks for new plugins. Raises ConfigError when the path is too long for a socket."""
        return _checked(self.kubelet_root.absolute() / "plugins_registry" / f"{driver}-reg.sock")

    def checkpoint(self, driver: str) -> Path:
        """The file that keeps what is prepared."""
        return self.plugin_dir(driver) / "checkpoint.json"


def bound_path(socket: Path) -> Path:
    """Where the server of a socket really listens; the kubelet overlooks names that begin with a dot."""
    return socket.with_name(f".{socket.name}")


def _checked(socket: Path) -> Path:
    length = len(bytes(bound_path(socket)))
    if length > MAX_SOCKET_PATH:
        raise ConfigError(
            f"the socket path {socket} is too long ({length} bytes with its dot, at most {MAX_SOCKET_PATH}): "
            "use a shorter kubelet root directory or driver name"
        )
    return socket
