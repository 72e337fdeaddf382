"""Free loopback ports."""

import random
import socket

from harness.errors import InfrastructureError

# Below the range from which Linux takes the ports of outgoing connections: those could otherwise take a port
# between the probe and the start of the program that wants it.
_RANGE = range(20000, 32000)


def free_ports(count: int) -> list[int]:
    """Distinct ports of 127.0.0.1 on which nothing listens right now."""
    ports: list[int] = []
    for port in random.sample(_RANGE, len(_RANGE)):
        if len(ports) == count:
            break
        if _is_free(port):
            ports.append(port)
    if len(ports) < count:
        raise InfrastructureError(f"no {count} free ports between {_RANGE.start} and {_RANGE.stop} on 127.0.0.1")
    return ports


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
