"""Quantities: to calculate with, and to show."""

from decimal import Decimal

from kubernetes.utils.quantity import parse_quantity

_UNITS = ("Ti", "Gi", "Mi", "Ki")


def amount(quantity: str | int) -> Decimal:
    """The number that a quantity stands for."""
    return Decimal(parse_quantity(str(quantity)))  # type: ignore[no-untyped-call]


def show(value: Decimal) -> str:
    """A number as a quantity: binary units where it is a multiple of one, thousandths where it is a fraction."""
    for power, unit in zip(range(len(_UNITS), 0, -1), _UNITS, strict=True):
        size = Decimal(1024) ** power
        if value and value % size == 0:
            return f"{int(value / size)}{unit}"
    return f"{int(value)}" if value == value.to_integral() else f"{int(value * 1000)}m"
