"""The calls that the plugins of a driver got on all nodes, followed from afar."""

import threading
from collections.abc import Callable, Mapping

from fake_driver.calls import Call
from fake_driver.errors import ConfigError
from fake_driver.wire import call_from
from harness.drivers.steering import Part
from harness.errors import InfrastructureError

#: Seconds after which a Pod answers that nothing is new.
_TURN = 10.0
#: Seconds before a Pod that cannot be reached is asked again.
_PAUSE = 0.5


class CallMirror:
    """The calls in the order in which they were first seen. Safe to use from many threads.

    From the first `wait` on the plugins are followed by threads, until `close`.
    """

    def __init__(self, driver: str, plugins: Mapping[str, Part]) -> None:
        self._driver = driver
        self._plugins = plugins
        self._calls: list[Call] = []
        self._places: dict[tuple[str, str, int], int] = {}
        self._changed = threading.Condition()
        self._closed = threading.Event()
        self._followed = False
        self._trouble = ""

    def all(self) -> tuple[Call, ...]:
        """The calls up to now, also those that still run."""
        if not self._closed.is_set():
            for node in self._plugins:
                self._look(node, -1, 0)
        with self._changed:
            return tuple(self._calls)

    def wait(self, predicate: Callable[[Call], bool], timeout: float, after: int = 0) -> Call:
        """The first call, from the `after`-th on, for which the predicate is true. Raises TimeoutError."""

        def found() -> Call | None:
            return next((call for call in self._calls[after:] if predicate(call)), None)

        self._follow()
        with self._changed:
            call = self._changed.wait_for(found, timeout)
            if call is None:
                last = ", ".join(f"{c.method} on {c.node} ({c.result or 'running'})" for c in self._calls[-5:])
                trouble = f"; {self._trouble}" if self._trouble else ""
                raise TimeoutError(f"no such call within {timeout:g} s; calls so far: {last or 'none'}{trouble}")
        return call

    def close(self) -> None:
        """Follow no more."""
        self._closed.set()

    def _follow(self) -> None:
        with self._changed:
            if self._followed:
                return
            self._followed = True
        for node in self._plugins:
            name = f"calls of {self._driver} on {node}"
            threading.Thread(target=self._follow_node, args=(node,), name=name, daemon=True).start()

    def _follow_node(self, node: str) -> None:
        seen = -1
        while not self._closed.is_set():
            try:
                seen = self._look(node, seen, _TURN)
                self._trouble = ""
            except (ConfigError, InfrastructureError) as error:
                # The Pod is on its way out or in, or the API server is: the next turn tells.
                self._trouble = str(error)
                seen = -1
                self._closed.wait(_PAUSE)

    def _look(self, node: str, seen: int, wait: float) -> int:
        """Take over what the plugin on the node knows; returns the version of its log."""
        answer = self._plugins[node].calls(self._driver, seen, wait)
        with self._changed:
            for number, data in enumerate(answer["calls"]):
                self._take((node, answer["instance"], number), call_from(data))
            self._changed.notify_all()
        return int(answer["version"])

    def _take(self, key: tuple[str, str, int], call: Call) -> None:
        if key not in self._places:
            self._places[key] = len(self._calls)
            self._calls.append(call)
        elif self._calls[self._places[key]].result is None:
            self._calls[self._places[key]] = call
