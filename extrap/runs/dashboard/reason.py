"""Why W&B would not do something, in one line."""

import re


def reason(error: BaseException) -> str:
    """What an error of a library says first; of a form that was not filled in rightly, which field
    it was and why.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    if re.match(r"\d+ validation errors? for ", lines[0]) and len(lines) > 2:
        return f"{lines[1]}: {lines[2].partition(' [type=')[0]}"
    return lines[0]
