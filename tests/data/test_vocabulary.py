import numpy as np

from extrap.data.vocabulary import Vocabulary


def test_bytes_bos_keys_and_values_fill_the_ids_without_overlap():
    v = Vocabulary(keys=10, values=3)
    assert [*range(v.text), v.bos, *v.key_ids, *v.value_ids] == list(range(v.size))
    assert v.size == 256 + 1 + 10 + 3


def test_keys_and_values_of_numbers_and_arrays():
    v = Vocabulary(keys=10, values=3)
    assert [v.key(i) for i in range(10)] == v.key(np.arange(10)).tolist() == list(v.key_ids)
    assert [v.value(i) for i in range(3)] == v.value(np.arange(3)).tolist() == list(v.value_ids)
