"""The completions protocol of an engine: prompts as ids, the scores of a prompt, greedy answers.

    prompt_logprobs    vLLM: log-probabilities of the ids of the prompt
    echo               OpenAI's first protocol, SGLang: the same, in the lists of the answer
    neither            llama.cpp: answers alone, with their log-probabilities

An engine gets ids, so that no tokenizer of its own stands between. It must say the ids that it
answers, by `token_ids`, `id` or `token_id:N`.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from extrap.engine.client import Client, Refused

Ids = Sequence[int]
GREEDY = {
    "temperature": 0,
    "frequency_penalty": 0,
    "presence_penalty": 0,
}
"""The most likely token, whatever penalties the engine has by default."""
EXTENDED = {
    "add_special_tokens": False,
    "return_token_ids": True,
    "return_tokens_as_token_ids": True,
    "repetition_penalty": 1.0,  # vLLM takes that of generation_config.json
    "repeat_penalty": 1.0,  # llama.cpp that of its command line
}
"""Options that some engines know: no BOS of their own, answers as ids, no other penalties."""
SCORES = {"prompt_logprobs": {"prompt_logprobs": 0}, "echo": {"echo": True}}
"""By way to score a prompt: the options of a request."""
NONE = -1
"""In place of an id whose score is nan, as in extrap.tasks.scoring.answers."""


class Answer(NamedTuple):
    """What an engine answers to a prompt.

    Args:
        read: how many tokens it says that it read, None if it is silent
        ids, scores: of the answer, NONE and nan where its score is nan; nan alone where it gives
            none
        prompt: log-probabilities of the prompt's ids but the first
    """

    read: int | None
    ids: list[int]
    scores: list[float]
    prompt: list[float] | None


class Protocol:
    """One model of an engine. `find` sets its attributes.

    name    as the engine calls it
    scores  a key of SCORES, or None if the engine scores no prompts
    joins   whether it leaves ids out where tokens are parts of a character (llama.cpp)
    """

    def __init__(self, client: Client, name: str):
        self.client, self.name = client, name
        self.extended: dict[str, Any] = {}
        self.scores: str | None = None
        self.joins = False

    def find(self, ids: Ids) -> Answer:
        """Finds what the engine understands, by a short prompt. Returns its plainest answer. Raises
        Refused for an engine that takes no ids.
        """
        try:
            found = self.ask(ids, 1, EXTENDED)
            self.extended = EXTENDED
        except Refused:  # a strict engine knows no further options
            found = self.ask(ids, 1, {})
        for way, options in SCORES.items():
            try:
                scored = self.ask(ids, 1, self.extended | options, trial=True)
            except Refused:
                continue
            if scored.prompt is not None:
                self.scores = way
                return scored
        return found

    def score(self, ids: Ids) -> Answer:
        """Returns an answer with the scores of a prompt."""
        assert self.scores is not None
        return self.ask(ids, 1, self.extended | SCORES[self.scores])

    def say(self, ids: Ids, count: int) -> Answer:
        """Returns the greedy answer of `count` tokens."""
        return self.ask(ids, count, self.extended)

    def ask(self, ids: Ids, count: int, options: dict[str, Any], trial: bool = False) -> Answer:
        own = {"model": self.name, "prompt": list(ids), "max_tokens": count}
        form = {"logprobs": 1, "stream": False}
        body = own | GREEDY | form | options
        found = self.client.post("completions", body, trial)
        return self._answer(found, ids)

    def _answer(self, found: Any, ids: Ids) -> Answer:
        try:
            choice = found["choices"][0]
            own = choice.get("logprobs") or {}
            prompt = _of_prompt(choice, own, ids)
            self.joins = self.joins or "content" in own
            said, scores = _of_answer(choice, own, 0 if prompt is None else len(ids))
            read = (found.get("usage") or {}).get("prompt_tokens")
            echoed = choice.get("prompt_token_ids")
            if isinstance(echoed, list) and echoed != list(ids):
                read = len(echoed)
            return Answer(read if isinstance(read, int) else None, said, scores, prompt)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            problem = f"answers in no form of the completions protocol ({type(error).__name__})"
            raise self.client.error(problem, "give the address of its API, as in .../v1") from None


def _of_prompt(choice: Any, own: Any, ids: Ids) -> list[float] | None:
    """Returns the log-probabilities of the ids of a prompt but the first. Raises ValueError for the
    scores of other ids.
    """
    listed = choice.get("prompt_logprobs")
    if isinstance(listed, list):
        if len(listed) != len(ids):
            return [math.nan] * (len(listed) - 1)
        behind_first = zip(ids[1:], listed[1:], strict=True)
        return [_number(at[str(i)]["logprob"]) for i, at in behind_first]
    echoed = own.get("token_logprobs")
    if isinstance(echoed, list) and len(echoed) >= len(ids) and echoed[0] is None:
        return [_number(score) for score in echoed[1 : len(ids)]]
    return None


def _of_answer(choice: Any, own: Any, behind: int) -> tuple[list[int], list[float]]:
    """Returns ids and scores of an answer; behind: where it begins in lists with the prompt."""
    if isinstance(content := own.get("content"), list):
        ids = [int(one["id"]) for one in content]
        given = [_number(one["logprob"]) for one in content]
    else:
        words = own.get("tokens") or []
        scores = own.get("token_logprobs") or []
        start = behind if scores and scores[0] is None else 0
        ids = choice.get("token_ids")
        if not isinstance(ids, list):
            named = [str(word) for word in words[start:]]
            found = [word for word in named if word.startswith("token_id")]
            ids = [word.removeprefix("token_id:") for word in found]
        ids = [int(i) for i in ids]
        given = [_number(score) for score in scores[start:]][: len(ids)]
    known = [NONE if math.isnan(score) else i for i, score in zip(ids, given, strict=False)]
    return known + ids[len(given) :], given + [math.nan] * (len(ids) - len(given))


def _number(score: Any) -> float:
    """Returns a score; null is nan, which JSON has no word for."""
    return math.nan if score is None else float(score)
