"""Options of parts, contexts and mixtures: extrap rejects by name what does not fit. Bounds of
single options: tests/contracts/test_tasks.py.
"""

import pytest

from extrap.data.aggregate import Aggregate
from extrap.data.keyvalue import Padded, Records
from extrap.data.multidoc import MultiDocument
from extrap.data.multivalue import MultiValue
from extrap.data.nth import NthForm
from extrap.data.query import Query
from extrap.data.repeat import RepeatedText, RepeatedWithin
from extrap.data.strings import TASKS, Copy
from extrap.data.text import Text
from extrap.data.trace import TraceForm
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError
from tests.data.test_mixture import mixture

V = Vocabulary()
FEW = Vocabulary(keys=64, values=16)


@pytest.mark.parametrize(
    "made, vocabulary, length, option",
    [
        (Aggregate(), Vocabulary(keys=5, values=16), 32, "data.vocabulary.keys"),
        (Copy(), V, 42, "x.longest"),
        (Copy(), Vocabulary(keys=6), 64, "data.vocabulary.keys"),
        (MultiDocument(), V, 8, "x.facts"),
        (MultiDocument(), Vocabulary(keys=4), 96, "data.vocabulary.keys"),
        (MultiValue(values=2), Vocabulary(keys=9), 64, "data.vocabulary.keys"),
        (MultiValue(values=4), Vocabulary(values=3), 64, "x.values"),
        (MultiValue(values=40), V, 64, "x.values"),
        (NthForm(5), FEW, 6, "x"),
        (NthForm(5), FEW, 12, "x.copies"),
        (NthForm(5), FEW, 256, "data.vocabulary.keys"),
        (Padded(32), V, 64, "x.pairs"),
        (Padded(300), V, 1024, "data.vocabulary.keys"),
        (Query(), V, 7, "x"),
        (Query(), Vocabulary(keys=8), 64, "data.vocabulary.keys"),
        (Records(), V, 1024, "data.vocabulary.keys"),
        (TASKS["addition"], Vocabulary(keys=64, values=8), 64, "data.vocabulary.values"),
        (TASKS["addition-hints"], Vocabulary(keys=30), 128, "x.longest"),
        (TASKS["s5"], Vocabulary(keys=12, values=8), 64, "data.vocabulary.keys"),
        (TraceForm(2), FEW, 256, "data.vocabulary.keys"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(made, vocabulary, length, option):
    with pytest.raises(UserError) as error:
        made.check("x", vocabulary, length)
    assert error.value.option == option and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "options, option",
    [
        ({"length": 5}, "data.length"),
        ({"length": 600}, "data.vocabulary.keys"),
        ({"text": {"size": 0}, "retrieval": {"size": 0}}, "data.text.size"),
        ({"retrieval": {"prefix": 0.9}}, "data.retrieval.prefix"),
        ({"more": {"repeat": RepeatedText(shortest=33)}}, "data.more.repeat.shortest"),
        ({"more": {"repeat": RepeatedWithin(longest=33)}}, "data.more.repeat.longest"),
        ({"more": {"repeat": RepeatedWithin(longest=7)}}, "data.more.repeat.longest"),
        *(
            ({"more": {name: Text(size=2)}}, f"data.more.{name}")
            for name in ("text", "retrieval", "a/b", "a.b", "")
        ),
    ],
)
def test_a_mixture_that_makes_no_sense_is_refused_by_name(options, option):
    with pytest.raises(UserError) as error:
        mixture(**options)
    assert error.value.option == option and "\n" not in str(error.value)
