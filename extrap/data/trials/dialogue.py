"""Test contexts in the turns of a chat template, which lengths count with the rest."""

from dataclasses import dataclass, replace

from extrap.data.context import Context
from extrap.data.trials.base import Form, OneQuestion, Questions
from extrap.data.turns import Turns
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError


def in_turns(form: Form, turns: Turns) -> Form:
    """Returns the form as part of a dialogue; the form itself without a dialogue."""
    return InTurns(form, turns) if turns.extra else form


def laid(questions: Questions, turns: Turns) -> Questions:
    """Returns the questions in the turns of a dialogue, `turns.extra` tokens longer."""
    return replace(
        questions,
        tokens=turns.laid(questions.tokens, questions.tail),
        distance=questions.distance + len(turns.behind),
    )


@dataclass(frozen=True)
class InTurns(Form):
    """A form in the turns of a dialogue. form: of the shorter contexts for which the turns leave
    room.
    """

    form: Form
    turns: Turns

    @property
    def code(self) -> int:  # type: ignore[override]
        return self.form.code

    def records(self, length: int) -> int:
        return self.form.records(length - self.turns.extra)

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        if self.records(length) < 1:
            turns = f"the {self.turns.extra} tokens of the chat template"
            problem = f"{length} tokens hold no record beside {turns}"
            remedy = "give larger multiples, or model.chat=false"
            raise UserError(option, problem=problem, remedy=remedy)
        self.form.check(option, vocabulary, length - self.turns.extra)

    def question(self, context: Context, depth: float) -> OneQuestion:
        one = self.form.question(context.shorter(self.turns.extra), depth)
        return one._replace(
            tokens=self.turns.laid(one.tokens[None], one.tail)[0],
            distance=one.distance + len(self.turns.behind),
        )

    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        return self.form.guess(vocabulary, length - self.turns.extra)

    def chance(self, vocabulary: Vocabulary) -> float:
        return self.form.chance(vocabulary)
