import socket

from harness.clusters.local.ports import free_ports


def test_ports_are_distinct_and_free() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    for port in ports:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", port))


def test_a_taken_port_is_not_offered() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", free_ports(1)[0]))
        listener.listen()
        assert listener.getsockname()[1] not in free_ports(11000)
