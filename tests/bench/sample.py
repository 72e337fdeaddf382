from harness.bench.model import Backlog, Bench, Machine, Series

MACHINE = Machine("Linux 6.1", "Some processor", 2, 8.0, 0.1)
CELLS = (
    *((nodes, 8, 200) for nodes in (100, 500, 1000)),
    *((100, devices, 200) for devices in (32, 128)),
    *((100, 8, pods) for pods in (50, 400)),
)


def backlog(nodes: int = 100, devices: int = 8, pods: int = 200, workload: str = "claim", rate: float = 100) -> Backlog:
    return Backlog(workload, f"Pods of {workload}", nodes, devices, pods, ((pods, pods / rate), (pods, pods / rate)))


def bench(*series: Series, beside: Bench | None = None, changed: tuple[str, ...] = ()) -> Bench:
    every = (
        Series("floor", "floor", (2.0, 2.0, 2.0)),
        Series("start", "start", (4.0, 5.0, 6.0)),
        Series("teardown", "teardown", (0.2,)),
        Series("wake-up", "wake-up", tuple(number / 10_000 for number in range(1, 101))),
        Series("claim allocated", "claim", (0.02,)),
        Series("claim bound", "claim", (0.03, 0.04)),
        Series("claim running", "claim", (0.1,)),
        Series("eviction evicted", "taint", (0.1,)),
        Series("beside", "beside", (0.02,)),
        Series("condition", "condition", (3.0,)),
        Series("conditions", "conditions", (5.0,)),
        Series("empty scenario", "empty", (0.1,)),
        Series("driver scenario", "driver", (1.1,)),
        Series("timeline", "timeline", (0.02,)),
    )
    own = {each.name: each for each in series}
    backlogs = [backlog(*cell) for cell in CELLS]
    backlogs += [backlog(nodes, workload="gang", rate=50) for nodes in (100, 500, 1000)]
    return Bench(
        started="2026-01-01T00:00:00+00:00",
        release="v1.37.2",
        provider="local",
        profile="features",
        machine=MACHINE,
        series=tuple(own.get(each.name, each) for each in every),
        backlogs=tuple(backlogs),
        changed=changed,
        seconds=600,
        beside=beside,
    )
