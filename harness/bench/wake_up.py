"""How long a wait needs to notice what has been written."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from harness.bench.rounds import Samples
from harness.kube import Client, Obj, Waiter
from harness.kube.predicates import Predicate

_PATIENCE = 30.0  # seconds for what takes milliseconds


TITLES = {"wake-up": "write acknowledged to wait returned"}


def wake_up(client: Client, count: int) -> Samples:
    """From the acknowledgement of a write to the moment at which a wait that was watching returns."""
    subject = client.create({"kind": "ConfigMap", "metadata": {"name": "wake-up"}, "data": {"state": "new"}})
    try:
        with ThreadPoolExecutor(1, "waiting") as thread:
            samples = tuple(_sample(client, subject, str(number), thread) for number in range(count))
    finally:
        client.delete(subject)
    return {"wake-up": samples}


def _sample(client: Client, subject: Obj, number: str, thread: ThreadPoolExecutor) -> float:
    listed, watching = threading.Event(), threading.Event()

    def written(obj: Obj) -> bool:
        state = obj["data"]["state"]
        listed.set()
        if state == f"watch {number}":
            watching.set()
        return bool(state == f"done {number}")

    def wait() -> float:
        Waiter(client).wait(subject, Predicate("written", written), _PATIENCE)
        return time.monotonic()

    returned = thread.submit(wait)
    listed.wait(_PATIENCE)
    _write(client, subject, f"watch {number}")
    watching.wait(_PATIENCE)  # this one came through the watch, so the next one will
    _write(client, subject, f"done {number}")
    acknowledged = time.monotonic()
    return max(0.0, returned.result() - acknowledged)  # a watch may even be faster than the answer to the writer


def _write(client: Client, subject: Obj, state: str) -> None:
    client.patch(subject, {"data": {"state": state}})
