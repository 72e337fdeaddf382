"""A report with every verdict, made by the code under test from scenario results such as a run has."""

from collections.abc import Mapping
from dataclasses import replace

from harness.evidence.recorder import Observation
from harness.report import catalogue
from harness.report.model import (
    Deviation,
    Host,
    Program,
    ReleaseFacts,
    Replacement,
    Report,
    Run,
    ScenarioResult,
    StatementResult,
    Verdict,
)
from harness.report.verdicts import assess
from harness.timeline import Lane, Moment, Source, Span, State, Timeline

STARTED = "2026-03-02T09:14:07+00:00"

TIMELINE = (
    Observation(0.012, "created", "ResourceClaim s-wf13/one"),
    Observation(0.034, "created", "Pod s-wf13/holder"),
    Observation(0.412, "scheduled to node-1 (after 0.38 s)", "Pod s-wf13/holder"),
    Observation(0.441, "created", "Pod s-wf13/waiter"),
    Observation(
        0.707, "PodScheduled=False: 0/3 nodes are available: 3 cannot allocate all claims", "Pod s-wf13/waiter"
    ),
    Observation(2.214, "barrier: the twin was tried later and is unschedulable too", "Pod s-wf13/twin"),
)

AXIS = Timeline(
    "2026-03-02T09:14:07+00:00",
    2.4,
    (
        Lane(
            "device",
            "gpu.example.com/node-1/gpu-0",
            (Span(0.0, 0.391, State.PUBLISHED), Span(0.391, 2.4, State.ALLOCATED, "to one")),
            (Moment(0.391, "allocated", Source.CLUSTER, "to one"),),
        ),
        Lane("Pod", "holder", (Span(0.034, 2.4, State.PENDING),), (Moment(0.034, "created", Source.OBSERVED),)),
    ),
)

FAILURE = """AssertionError: Pod s-wf12/two did not become scheduled within 30.0 s
  last state: Pending, PodScheduled=False (Unschedulable)
    0/3 nodes are available: 3 cannot allocate all claims.
  events: 2x FailedScheduling (default-scheduler)
  finding: claim s-wf12/b is not allocated: the only device left, gpu-0, is <reserved> by s-wf12/one"""


def _name(identifier: str) -> str:
    return identifier.lower().replace("-", "_")


def scenario(identifier: str, name: str, /, **fields: object) -> ScenarioResult:
    """A passed scenario of a statement, changed as asked."""
    result = ScenarioResult(
        f"scenarios/workflow/test_{identifier[:2].lower()}.py::test_{name}",
        "passed",
        statements=(identifier,),
        started=STARTED,
        duration=2.4,
        observed=TIMELINE,
        timeline=AXIS,
        difference="the holder and its claim are gone",
    )
    return replace(result, **fields)  # type: ignore[arg-type]


def control(identifier: str, **fields: object) -> ScenarioResult:
    """A passed control of a statement, changed as asked."""
    changes: dict[str, object] = {"statements": (), "controls": (identifier,), "difference": "", **fields}
    return scenario(identifier, f"{_name(identifier)}_comes_out_otherwise", **changes)


def results() -> tuple[ScenarioResult, ...]:
    """What a run came to in which nearly all holds, and one statement has each of the other verdicts."""
    special: Mapping[str, tuple[ScenarioResult, ...]] = {
        "WF-12": (
            scenario(
                "WF-12", "claim_is_shared", outcome="failed", reason=FAILURE, evidence="evidence/wf-12", duration=30
            ),
            control("WF-12"),
        ),
        "WF-14": (
            scenario("WF-14", "driver_comes_back", outcome="error", reason="kube-scheduler did not become healthy"),
            control("WF-14"),
        ),
        "WF-15": (scenario("WF-15", "no_control_yet"),),
        "WF-22": (scenario("WF-22", "sees_device", outcome="skipped", skip="need", reason="needs container"),),
        "WF-24": (scenario("WF-24", "not_in_1_37", outcome="skipped", skip="release", reason="Gate is not in 1.37"),),
        "WF-26": (),
        "PS-05": (
            scenario("PS-05", "a", deviates=(Deviation("PS-05", "the kubelet rejects the Pod instead", ("1.37",)),)),
            control("PS-05", notes=("ran with --emulated-version=1.36",)),
        ),
    }
    collected: list[ScenarioResult] = []
    for identifier in catalogue.load():
        if identifier[:2] in {"WF", "PS", "ER"}:
            collected += special.get(
                identifier, (scenario(identifier, f"{_name(identifier)}_happens"), control(identifier))
            )
    return tuple(collected)


def statements(release: str = "1.37", provider: str = "local") -> tuple[StatementResult, ...]:
    """The verdicts on `results`; statements of other groups were not selected."""
    selected = [identifier for identifier in catalogue.load() if identifier[:2] in {"WF", "PS", "ER", "CP"}]
    return assess(catalogue.load(), results(), release=release, provider=provider, selected=selected)


def facts(release: str, provider: str) -> ReleaseFacts:
    """A column with what its cluster said."""
    gates = {"DRADeviceTaints": True, "DRAExtendedResource": True, "GenericWorkload": False}
    return ReleaseFacts(
        release,
        provider,
        f"v{release}.2",
        profile="features",
        gates={"kube-apiserver": gates, "kube-scheduler": gates, "kubelet": {"DRAResourceClaimDeviceStatus": True}},
        apis={"resource.k8s.io": ("v1", "v1beta2"), "scheduling.k8s.io": ("v1", "v1beta1")},
        programs=(Program("kube-apiserver", f"v{release}.2", "3c" * 32, "built"),),
        configuration={"gates": {"kube-apiserver": gates}, "args": {}},
    )


def report(*columns: tuple[str, str]) -> Report:
    """One column for each release and provider asked for; none asked for: 1.37 on local."""
    columns = columns or (("1.37", "local"),)
    run = Run(
        id="20260302-091407-7f3a",
        started=STARTED,
        duration=83.4,
        releases=tuple(facts(*column) for column in columns),
        host=Host("Linux", "x86_64", 2),
        command=("pytest", "scenarios", "--provider", "local", "-k", "workflow or <b>"),
        seed=42,
        packages={"python": "3.11.7", "pytest": "8.4.2"},
        replacements=(Replacement("kube-scheduler", "v1.37.2-patched", "9f" * 32),),
        warnings=("gate GangScheduling was dropped: 1.37 does not have it",),
    )
    found = tuple(statement for column in columns for statement in statements(*column))
    return Report(run, found)


def verdicts(found: tuple[StatementResult, ...]) -> dict[str, Verdict]:
    """Verdict by statement id."""
    return {statement.id: statement.verdict for statement in found}
