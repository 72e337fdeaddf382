"""Pages and pictures from the templates of a room."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(room: str) -> Environment:
    """Templates of the package `room`: what they are given is escaped, and what they lack is an error."""
    return Environment(
        loader=PackageLoader(room), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
