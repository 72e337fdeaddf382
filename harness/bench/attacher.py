"""Reports the devices of allocated claims as attached, at once and many at a time."""

from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

from fake_driver.conditions import as_conditions
from harness.bench.workloads import DRIVER
from harness.kube import ApiError, Client, Obj
from harness.kube.predicates import allocation_results

_WRITERS = 4


class Attacher:
    """A listener of arrivals of allocated claims."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._writers = ThreadPoolExecutor(_WRITERS, "attaching")
        self._written: list[Future[None]] = []

    def __enter__(self) -> "Attacher":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writers.shutdown()
        for written in self._written:
            written.result()

    def __call__(self, claim: Obj) -> None:
        """Report its binding conditions as true. A claim that is gone meanwhile needs none."""
        self._written.append(self._writers.submit(self._report, claim))

    def _report(self, claim: Obj) -> None:
        devices = [
            {
                **{key: result[key] for key in ("driver", "pool", "device")},
                "conditions": as_conditions(dict.fromkeys(result.get("bindingConditions", ()), "True"), "Attached"),
            }
            for result in allocation_results(claim)
        ]
        meta = {key: claim["metadata"][key] for key in ("name", "namespace", "uid")}
        body = {"kind": "ResourceClaim", "metadata": meta, "status": {"devices": devices}}
        try:
            self._client.apply(body, field_manager=DRIVER, subresource="status")
        except ApiError as error:
            if not (error.not_found or error.conflict):
                raise
