"""The layout of a Kubernetes conformance submission: junit_01.xml, e2e.log and a drafted PRODUCT.yaml."""

from collections import Counter
from collections.abc import Iterable, Mapping

import yaml

from harness.report import junit, summary
from harness.report.model import Outcome, Report, ScenarioResult

#: What one line of the log says; an error is no pass.
_WORDS: dict[Outcome, str] = {
    "passed": "PASSED",
    "failed": "FAILED",
    "error": "FAILED",
    "not run": "FAILED",
    "skipped": "SKIPPED",
}

#: What the vendor of a product must fill in, in the order of the programme.
_PRODUCT = (
    "vendor",
    "name",
    "version",
    "website_url",
    "repo_url",
    "documentation_url",
    "product_logo_url",
    "type",
    "description",
    "contact_email_address",
)


def files(report: Report) -> Mapping[str, bytes]:
    """The three files."""
    return {
        "junit_01.xml": junit.render(report),
        "e2e.log": _log(report).encode(),
        "PRODUCT.yaml": _product(report).encode(),
    }


def _log(report: Report) -> str:
    results = [result for result in report.scenarios().values() if result.outcome in _WORDS]
    head = [
        "dra-e2e: scenarios of the documentation of Dynamic Resource Allocation; this is not the conformance suite.",
        *(f"kube-apiserver version: {facts.version} ({facts.provider})" for facts in report.columns),
        f"run {report.run.id}, started {report.run.started}: {' '.join(report.run.command)}",
        "",
    ]
    return "\n".join([*head, *map(_line, results), "", _last_line(results)]) + "\n"


def _line(result: ScenarioResult) -> str:
    about = " ".join(f"[{identifier}]" for identifier in (*result.statements, *result.controls))
    line = f"{_WORDS[result.outcome]} {about} {result.nodeid} [{result.duration:.3f} seconds]"
    return line if result.outcome == "passed" else f"{line}\n  {' '.join(result.reason.split())}"


def _last_line(results: Iterable[ScenarioResult]) -> str:
    numbers = Counter(_WORDS[result.outcome] for result in results)
    word = "FAIL!" if numbers["FAILED"] or not numbers["PASSED"] else "SUCCESS!"
    return (
        f"{word} -- {numbers['PASSED']} Passed | {numbers['FAILED']} Failed | 0 Pending | {numbers['SKIPPED']} Skipped"
    )


def _product(report: Report) -> str:
    fields = {field: f"[{field.replace('_', ' ')}]" for field in _PRODUCT}
    fields["description"] = f"[description] {summary.subject(report)}: {summary.headline(report)}"
    return "# A draft: fill in what stands in brackets.\n" + yaml.safe_dump(fields, sort_keys=False, width=1000)
