"""An engine as a model of the bench: losses of a text where the engine scores prompts, and greedy
answers. Logits of all ids stay in the engine.
"""

import math
import re
import warnings
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from extrap.engine.client import Client, Refused
from extrap.engine.protocol import NONE, Answer, Ids, Protocol
from extrap.utils.errors import NotApplicable, OutOfRange, UserError

PROBE, TRIES = 16, 8
"""Tokens of the first prompt, and prompts at most until an answer shows its id."""

TOO_LONG = (400, 413, 422)
"""Statuses of an engine that does not read so long a prompt."""


class Engine(nn.Module):
    """Tokens (B, T) on the CPU -> losses and answers of an engine, one request a text.

    Args:
        client: the engine
        bos: the id that begins a text
        name: of the model, None if the engine serves one alone
        reference: makes the model that the engine should serve; None without one

    limit     tokens of prompt and answer that the engine says it reads; None if it is silent
    scores    whether it scores the tokens of a prompt
    served    the words and sizes by which the engine says which model it serves; {} if it is silent
    """

    def __init__(
        self,
        client: Client,
        bos: int,
        name: str | None = None,
        reference: Callable[[], Any] | None = None,
    ):
        super().__init__()
        self.client = client
        self.bos = bos
        self._made = reference
        self._warned = set[str]()
        served = self._served()
        known = {str(one.get("id")): one for one in served}
        self.name = name or (next(iter(known)) if len(known) == 1 else None)
        if self.name is None or (known and self.name not in known):
            if not known:
                raise client.error("names no model", "end it with /v1, or give model.name")
            listed = ", ".join(sorted(known))
            raise UserError("model.name", name, f"the engine serves {listed}", "name one of them")
        own = known.get(self.name, {})
        self.limit, self.size = _limit(own)
        self.served = _of_model(own)
        self.protocol = Protocol(client, self.name)
        self._probe()

    @property
    def requests(self) -> int:
        """Texts that it reads at once."""
        return self.client.requests

    @property
    def scores(self) -> bool:
        return self.protocol.scores is not None

    @cached_property
    def reference(self) -> Any:
        """The model that the engine should serve, as extrap reads it."""
        assert self._made is not None  # extrap.runs.served: task=parity needs one
        return self._made()

    def losses(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """Returns the nats (B, w) of targets (B, w) at the last w positions of tokens (B, T), in
        float64. Raises OutOfRange for a text that the engine does not read whole.
        """
        w = targets.shape[1]
        last = targets[:, -1:].to(tokens.device)
        texts = torch.cat([tokens, last], 1)

        def scored(ids: Ids) -> list[float]:
            answer = self._asked(ids, self.protocol.score, 1)
            return (answer.prompt or [])[-w:]

        found = self.client.each(scored, texts.tolist())
        return -torch.tensor(found, dtype=torch.float64)

    def greedy(
        self, prompts: Sequence[Ids] | Tensor, counts: Sequence[int] | int
    ) -> tuple[Tensor, Tensor]:
        """Returns the tokens after prompts of any lengths, as many as the count of each, or one
        count for all, each the most likely one after the tokens before it: ids (B, most), `bos`
        behind the end of an answer, and their log-probabilities (B, most) in float64, nan there.
        NONE is in place of an id whose log-probability is nan, and ends the answer. Raises
        OutOfRange as `losses`.
        """
        if isinstance(prompts, Tensor):
            prompts = prompts.tolist()
        if isinstance(counts, int):
            counts = [counts] * len(prompts)
        most = max(counts)

        def said(asked: tuple[Ids, int]) -> tuple[list[int], list[float]]:
            ids, scores = self._said(*asked)
            lost = most - len(ids)
            return ids + [self.bos] * lost, scores + [math.nan] * lost

        found = self.client.each(said, zip(prompts, counts, strict=True))
        ids, scores = zip(*found, strict=True)
        return torch.tensor(ids), torch.tensor(scores, dtype=torch.float64)

    def forward(self, tokens: Tensor, last: int | None = None) -> NoReturn:
        raise UserError("task", problem="reads the logits of all ids, which no engine gives")

    @property
    def scheme(self) -> NoReturn:
        """Raises NotApplicable: the caller wants to act on positions."""
        raise NotApplicable("model", "engine", "an engine turns positions by its own setting")

    def _said(self, ids: Ids, count: int) -> tuple[list[int], list[float]]:
        said = list[int]()
        scores = list[float]()
        step = 1 if self.protocol.joins else count
        while len(said) < count:
            say = partial(self.protocol.say, count=step)
            answer = self._asked([*ids, *said], say, step)
            said = said + answer.ids
            scores = scores + answer.scores
            if len(answer.ids) < step or NONE in answer.ids:
                break
        return said, scores

    def _asked(self, ids: Ids, ask: Callable[[Ids], Answer], count: int) -> Answer:
        """Asks about a text that the engine must read whole."""
        T = len(ids)
        if self.limit is not None and self.limit < T + count:
            raise self._past(T, f"it says that it reads {self.limit} tokens, answer included")
        try:
            answer = ask(ids)
        except Refused as error:
            if error.status not in TOO_LONG:
                raise self.client.error(str(error), "give the same command again") from None
            raise self._past(T, str(error)) from None
        if answer.read not in (None, T):
            raise self._past(T, f"it read {answer.read} tokens of them")
        return answer

    def _past(self, T: int, why: str) -> OutOfRange:
        fact = re.sub(r"\d+", "n", why)  # an engine may count the tokens of each prompt
        if fact not in self._warned:
            self._warned.add(fact)
            line = f"model.url={self.client.url}: no rows at {T} tokens; {why}"
            warnings.warn(line, UserWarning, stacklevel=2)
        return OutOfRange(f"{T} tokens: {why}")

    def _served(self) -> list[dict[str, Any]]:
        try:
            found = self.client.get("models")
        except Refused:  # an engine of one model may not list it
            return []
        listed = found.get("data") if isinstance(found, dict) else None
        return [one for one in listed or [] if isinstance(one, dict)]

    def _probe(self) -> None:
        """Raises UserError for an engine that takes no ids, says none, or reads others."""
        ids = [self.bos, *range(1, PROBE)]
        try:
            answer = self.protocol.find(ids)
            for first in range(2, TRIES) if not answer.ids else ():
                # llama.cpp shows no id that is a part of a character
                ids = [self.bos, *range(first, first + PROBE - 1)]
                answer = self.protocol.say(ids, 1)
                if answer.ids:
                    break
        except Refused as error:
            problem = f"takes no prompt of ids ({error})"
            raise self.client.error(problem, "give an engine that does") from None
        if answer.read not in (None, PROBE):
            problem = f"reads {answer.read} tokens of a prompt of {PROBE} ids"
            raise self.client.error(problem, "let it add and cut no tokens (BOS)")
        if not answer.ids:
            raise self.client.error("does not say the ids of its answer", "give a newer engine")


def _limit(model: dict[str, Any]) -> tuple[int | None, int]:
    """Returns the tokens that an engine says it reads, None if it is silent, and the parameters of
    its model, 0 if it is silent.
    """
    own = model.get("meta") if isinstance(model.get("meta"), dict) else {}
    found = model.get("max_model_len") or (own or {}).get("n_ctx")
    size = (own or {}).get("n_params")
    return (found if isinstance(found, int) else None), (size if isinstance(size, int) else 0)


def _of_model(model: dict[str, Any]) -> dict[str, str | int]:
    """Returns the entries of an engine's answer that another start leaves as they are, unless it
    serves another model.
    """
    more = model.get("meta") if isinstance(model.get("meta"), dict) else {}
    found = {"id": model.get("id")}
    found |= {name: (more or {}).get(name) for name in ("n_params", "n_vocab", "n_embd", "size")}
    return {name: value for name, value in found.items() if isinstance(value, str | int)}
