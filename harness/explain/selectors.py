"""CEL selectors of devices, as far as they can be evaluated outside of Kubernetes (cel-python does it)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

import celpy
from celpy import celtypes
from celpy.adapter import json_to_cel
from celpy.celparser import CELParseError
from celpy.evaluation import CELEvalError

from harness.explain.amounts import amount
from harness.kube.resources import Obj


@dataclass(frozen=True)
class Answer:
    """Whether a device matches. `matched` is None where it could not be evaluated, and `error` says why.

    `failed`: the scheduler cannot evaluate it either.
    """

    matched: bool | None
    error: str = ""
    failed: bool = False


class _Domains(celtypes.MapType):
    """Attributes by domain: one that a device has nothing of is empty, not missing."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if key in self else celtypes.MapType()


def evaluate(expression: str, driver: str, device: Obj) -> Answer:
    """Evaluate a selector for one device of a slice."""
    try:
        program = _program(expression)
    except CELParseError as error:
        return Answer(None, f"not evaluated: {_first(error)}")
    try:
        result = program.evaluate({"device": _device(driver, device)})
    except CELEvalError as error:
        kind = error.args[1] if len(error.args) > 1 else None
        missing = _missing_key(error)
        if kind is KeyError and missing:
            return Answer(None, f"no such key: {missing}", failed=True)
        return Answer(None, f"not evaluated: {_first(error)}")
    except (TypeError, ValueError, ArithmeticError) as error:
        return Answer(None, f"not evaluated: {_first(error)}")
    if not isinstance(result, celtypes.BoolType | bool):
        return Answer(None, "not evaluated: the result is no boolean")
    return Answer(bool(result))


@lru_cache(1)
def _environment() -> celpy.Environment:
    return celpy.Environment()


@lru_cache(1024)
def _program(expression: str) -> celpy.Runner:
    return _environment().program(_environment().compile(expression), functions=_FUNCTIONS)


def _device(driver: str, device: Obj) -> celtypes.MapType:
    return celtypes.MapType(
        {
            celtypes.StringType("driver"): celtypes.StringType(driver),
            celtypes.StringType("attributes"): _by_domain(driver, device.get("attributes") or {}, _attribute),
            celtypes.StringType("capacity"): _by_domain(driver, device.get("capacity") or {}, _capacity),
            celtypes.StringType("allowMultipleAllocations"): celtypes.BoolType(
                bool(device.get("allowMultipleAllocations"))
            ),
        }
    )


def _by_domain(driver: str, values: Mapping[str, Obj], convert: Callable[[Obj], Any]) -> _Domains:
    """Values by domain and name; a name without a domain is of the driver's own."""
    domains: dict[Any, Any] = {}
    for key, value in values.items():
        domain, _, name = key.rpartition("/")
        inner = domains.setdefault(celtypes.StringType(domain or driver), celtypes.MapType())
        inner[celtypes.StringType(name)] = convert(value)
    return _Domains(domains)


def _attribute(value: Obj) -> Any:
    return json_to_cel(next(iter(value.values())))


def _capacity(value: Obj) -> Any:
    return _quantity(value["value"])


def _quantity(text: object) -> celtypes.DoubleType:
    return celtypes.DoubleType(amount(str(text)))


def _comparable(value: Any) -> Any:
    """Quantities by their amount, versions by their numbers."""
    if isinstance(value, celtypes.StringType):
        return tuple(int(number) for number in re.findall(r"\d+", str(value).split("-")[0]))
    return Decimal(float(value))


def _compare(left: Any, right: Any) -> int:
    a, b = _comparable(left), _comparable(right)
    return int(a > b) - int(a < b)


_FUNCTIONS: dict[str, Any] = {
    "quantity": _quantity,
    "semver": celtypes.StringType,
    "compareTo": lambda left, right: celtypes.IntType(_compare(left, right)),
    "isGreaterThan": lambda left, right: celtypes.BoolType(_compare(left, right) > 0),
    "isLessThan": lambda left, right: celtypes.BoolType(_compare(left, right) < 0),
    "major": lambda version: celtypes.IntType(_comparable(version)[0]),
    "minor": lambda version: celtypes.IntType(_comparable(version)[1]),
    "patch": lambda version: celtypes.IntType(_comparable(version)[2]),
    "lowerAscii": lambda text: celtypes.StringType(str(text).lower()),
}


def _missing_key(error: CELEvalError) -> str:
    """The key that a map does not have, in either of the library's wordings."""
    text = str(error.args[0]) if error.args else ""
    if found := re.search(r"no such member in mapping: '([^']*)'", text):
        return found[1]
    return str(error.args[2][0]) if text == "no such key" and len(error.args) > 2 and error.args[2] else ""


def _first(error: Exception) -> str:
    return str(error.args[0] if error.args else error).split(" (in activation")[0].splitlines()[0]
