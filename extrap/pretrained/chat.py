"""The chat template of a checkpoint: the tokens in front of the text of a user, and the tokens
between it and the beginning of the answer.

A template is a program. transformers renders it, in jinja's sandbox, where model.chat=true asks for
it alone; README.md says what it reaches there, and why its clock shows a fixed day. Where a
template has a switch for thoughts, it is off: tasks score the beginning of an answer.
"""

import re
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from extrap.data.encoder import Encoder
from extrap.data.turns import Turns
from extrap.pretrained.seam import installed, reason
from extrap.utils.bounded import bounded
from extrap.utils.errors import UserError
from extrap.utils.untrusted import read_json, read_text

SECONDS = 5.0
MEMORY = 2**29
"""Processor time and bytes of memory of a template."""

LONGEST = 2**20
"""Characters that a template may write around a text."""

TEXTS = ("a b", " a b", "a b.", "a b:", "a b\n", "\na b", "a b\n\n", "1", " a: b\n a:")
"""Beginnings and ends of texts whose tokens may merge with those of a template."""

SAMPLE = "  a <b> & 'c' \"d\"\n\n  e:  {f}\tg\n" * 9
"""A text that filters of jinja change: case, blanks, line ends, quotes, signs of HTML, length."""

MARK = "TEXT-OF-A-USER"
THINKING = "enable_thinking"
CHANNEL = re.compile(r"<\|?channel\|?>")
FILES = ("chat_template.jinja", "tokenizer_config.json")
NAMES = "special_tokens_map.json"
CLOCK = "strftime_now"
DAY = datetime(2024, 7, 26, 12)
CODES = [f"%{letter}" for letter in "dmBbYyAaHMS"]
"""The time of the clock of templates, and the codes of strftime that it knows."""


def turns(folder: Path, encoder: Encoder, place: str) -> Turns:
    """Returns the turns around the text of one user. Raises UserError without a template, and for
    one that jinja cannot render or that does not hold the text once.
    """
    config = entries(folder)
    template = _template(folder, config, place)
    before, *behind = _rendered(template, config, place).split(MARK)
    if len(behind) != 1:
        problem = f"the chat template holds the text of a user {len(behind)} times, not once"
        raise _refused(place, problem)

    def ids(text: str) -> tuple[int, ...]:
        return tuple(np.asarray(encoder(text.encode())[0]).tolist())

    if not (first := ids(before)):
        raise _refused(place, "the chat template has nothing in front of a text")
    found = Turns(first, ids(behind[0]))
    apart = [
        text
        for text in TEXTS
        if ids(before + text + behind[0]) != (*found.before, *ids(text), *found.behind)
    ]
    if apart:
        share = f"{len(apart)} of {len(TEXTS)} texts, such as {apart[0]!r}, have other tokens"
        line = (
            f"{place}: no special token parts the chat template from a text: {share} in one piece"
        )
        warnings.warn(f"{line} with it; extrap reads them apart", UserWarning, stacklevel=2)
    sample = _rendered(template, config, place, SAMPLE)
    inner = sample.removeprefix(before).removesuffix(behind[0])
    if len(inner) == len(sample) or inner.strip() != SAMPLE.strip():
        line = f"{place}: its chat template changes the text of a user"
        warnings.warn(f"{line}; extrap keeps the text as it is", UserWarning, stacklevel=2)
    if _thinks(template, behind[0]):
        line = f"{place}: its chat template opens a thought in front of the answer"
        line = f"{line}; extrap scores what is said first as the answer"
        warnings.warn(f"{line}, and model.chat=false asks without it", UserWarning, stacklevel=2)
    return found


def entries(folder: Path) -> dict[str, Any]:
    """Returns the entries of tokenizer_config.json, and, where it lists no tokens itself, over them
    those of special_tokens_map.json, as transformers reads both.
    """
    config, names = folder / FILES[1], folder / NAMES
    found = read_json(config, 2**26) if config.exists() else {}
    if "added_tokens_decoder" in found or not names.exists():
        return found
    return found | read_json(names)


def _thinks(template: str, behind: str) -> bool:
    """True if a model goes on with a thought behind these tokens: a thought that is open, or, in a
    template with channels and no switch (gpt-oss), no channel of the answer.
    """
    _, opened, thought = behind.rpartition("<think>")
    if opened and "</think>" not in thought:
        return True
    if THINKING in template or not CHANNEL.search(template):
        return False
    *_, last = CHANNEL.split(behind)
    return not last.startswith("final")


def _refused(place: object, problem: object) -> UserError:
    return UserError(place, problem=problem, remedy="give model.chat=false")


def _template(folder: Path, config: dict[str, Any], place: str) -> str:
    path = folder / "chat_template.jinja"
    try:
        found = read_text(path) if path.exists() else config.get("chat_template")
    except UserError as error:
        raise _refused(path, error.problem) from None
    if isinstance(found, list):  # several by name
        named = {one.get("name"): one.get("template") for one in found if isinstance(one, dict)}
        found = named.get("default")
    if not isinstance(found, str):
        raise _refused(place, f"no chat template in it ({' or '.join(FILES)})")
    return found


def _rendered(template: str, config: dict[str, Any], place: str, said: str = MARK) -> str:
    with installed("model.chat=true"):
        from transformers.utils.chat_template_utils import render_jinja_template
    if CLOCK in template:
        # transformers hands templates none of our functions: a macro takes the place of the clock
        filters = "".join(f" | replace('{code}', '{DAY.strftime(code)}')" for code in CODES)
        macro = f"{{%- macro {CLOCK}(format) -%}}{{{{ format{filters} }}}}{{%- endmacro %}}\n"
        template = macro + template
    switches = {THINKING: False} if THINKING in template else {}
    special = {
        name: value["content"] if isinstance(value, dict) and "content" in value else value
        for name, value in config.items()
        if name.endswith("_token") and isinstance(value, str | dict)
    }
    try:
        with bounded(SECONDS, MEMORY):
            (text,), _ = render_jinja_template(
                conversations=[[{"role": "user", "content": said}]],
                chat_template=template,
                add_generation_prompt=True,
                **switches,
                **special,
            )
    except Exception as error:  # of jinja, and whatever an operation inside raises
        problem = f"its chat template cannot be rendered ({reason(error):.100})"
        raise _refused(place, problem) from None
    if len(text) > LONGEST:
        raise _refused(place, f"its chat template writes more than {LONGEST:,} characters")
    return text
