from harness.bench.model import Bench, Machine, Series

MACHINE = Machine("Linux 6.1", "Some processor", 2, 8.0, 0.1)


def bench(*series: Series) -> Bench:
    every = (
        Series("floor", "floor", (2.0, 2.0, 2.0)),
        Series("start", "start", (4.0, 5.0, 6.0)),
        Series("teardown", "teardown", (0.2,)),
        Series("wake-up", "wake-up", tuple(number / 10_000 for number in range(1, 101))),
        Series("bound", "bound", (0.02,)),
        Series("running", "running", (0.1,)),
        Series("gone", "gone", (0.1,)),
        Series("beside", "beside", (0.02,)),
        Series("condition", "condition", (3.0,)),
        Series("conditions", "conditions", (5.0,)),
        Series("empty scenario", "empty", (0.1,)),
        Series("driver scenario", "driver", (1.1,)),
    )
    own = {each.name: each for each in series}
    chosen = tuple(own.get(each.name, each) for each in every)
    return Bench("2026-01-01T00:00:00+00:00", "v1.37.2", "local", "features", MACHINE, chosen)
