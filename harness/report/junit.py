"""JUnit XML, as CI systems read it: one test case per scenario or control."""

from collections.abc import Mapping

from junitparser import Error, Failure, JUnitXml, Properties, Property, Skipped, TestCase, TestSuite

from harness.report.model import Report, ScenarioResult, StatementResult

_RESULTS = {"failed": Failure, "error": Error, "not run": Error, "skipped": Skipped}
_NOT_XML = {code: "\N{REPLACEMENT CHARACTER}" for code in range(32) if chr(code) not in "\t\n\r"}


def render(report: Report) -> bytes:
    """The XML of all that was collected and not deselected; one suite per release and provider."""
    xml = JUnitXml(name="dra-e2e")
    for facts in report.columns:
        suite = TestSuite(f"dra-e2e {facts.release} {facts.provider}")
        suite.timestamp = report.run.started
        for name, value in {"run": report.run.id, "version": facts.version, "seed": report.run.seed}.items():
            suite.add_property(name, str(value))
        verdicts = {s.id: s for s in report.statements if (s.release, s.provider) == facts.column}
        suite.add_testcases(_cases(verdicts))
        xml.add_testsuite(suite)
    xml.update_statistics()
    text: bytes = xml.tostring()
    return text


def _cases(verdicts: Mapping[str, StatementResult]) -> list[TestCase]:
    results = {result.nodeid: result for statement in verdicts.values() for result in statement.results}
    return [_case(result, verdicts) for result in results.values() if result.outcome != "deselected"]


def _case(result: ScenarioResult, verdicts: Mapping[str, StatementResult]) -> TestCase:
    module, _, name = result.nodeid.partition("::")
    case = TestCase(name or module, classname=module.removesuffix(".py").replace("/", "."), time=result.duration)
    if kind := _RESULTS.get(result.outcome):
        case.result = [kind(result.reason.translate(_NOT_XML))]
    properties = Properties()
    for role, identifiers in (("statement", result.statements), ("control", result.controls)):
        for identifier in identifiers:
            properties.add_property(Property(role, identifier))
            if identifier in verdicts:
                properties.add_property(Property(f"verdict.{identifier}", str(verdicts[identifier].verdict)))
    if result.evidence:
        properties.add_property(Property("evidence", result.evidence))
    case.append(properties)
    if result.observed:
        lines = (f"{seen.at:9.3f} s  {seen.text}  {seen.object}".rstrip() for seen in result.observed)
        case.system_out = "\n".join(lines).translate(_NOT_XML)
    return case
