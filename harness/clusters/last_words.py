"""What a component that has ended wrote at last."""

import re

# klog's prefix of errors and fatal errors, and what cobra and panics print.
_TELLING = re.compile(r"^(?:[EF]\d{4} |Error:|error:|panic:|fatal|\{\"level\":\"(?:fatal|error|panic))")

#: So far back its end may have been told.
_LINES = 200


def last_words(log: str, count: int = 2) -> str:
    """The last lines of a log that tell an error, or else the last lines."""
    lines = log.strip().splitlines()[-_LINES:]
    telling = [line for line in lines if _TELLING.match(line)]
    return " | ".join((telling or lines)[-count:]) or "it wrote nothing"
