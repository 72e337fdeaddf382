"""Reading a component's /metrics page."""

from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families


@dataclass(frozen=True)
class Sample:
    """One line of the page."""

    name: str
    labels: dict[str, str]
    value: float


def series(text: str, name: str, /, **labels: str) -> list[Sample]:
    """All samples of exactly that name (`_total`, `_count`, `_bucket` … included) that carry these labels."""
    # A page has thousands of lines: only those that can be meant are parsed.
    lines = "".join(f"{line}\n" for line in text.splitlines() if line.startswith(name))
    return [
        Sample(sample.name, dict(sample.labels), sample.value)
        for family in text_string_to_metric_families(lines)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    ]


def value(text: str, name: str, /, **labels: str) -> float:
    """Their sum; 0 where there is none, as a counter that has never been touched does not appear."""
    return sum(sample.value for sample in series(text, name, **labels))
