"""Times in the API's own notation."""

from datetime import datetime


def api_time(moment: datetime, *, micro: bool = False) -> str:
    """A moment of UTC as the API has it: a Time keeps whole seconds, a MicroTime (`micro`) millionths."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ" if micro else "%Y-%m-%dT%H:%M:%SZ")
