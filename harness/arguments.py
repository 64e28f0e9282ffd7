"""Values from the command line, checked before anything runs, refused with the value in the message."""

from harness.errors import SynthesisError
from harness.problems import shown


def whole_number(text: str, option: str, *, least: int = 0) -> int:
    """Digits only: no sign, no exponent, no point."""
    if text.isascii() and text.isdigit() and len(text) <= 9 and int(text) >= least:
        return int(text)
    raise SynthesisError(
        f'"{shown(text)}" is not a whole number of at least {least}',
        where=option,
        fix=f"write for example {option} {least + 3}",
    )
