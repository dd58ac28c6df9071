"""The parts of the training data, as training rows tell them: what is drawn of each."""

FIRST = (("text", "nll"), ("retrieval", "accuracy"))


def parts(rows) -> list[tuple[str, str]]:
    """(protocol, metric) of every part with points in training rows: loss of text, accuracy of retrieval, then of others by name."""
    further = sorted({*rows["protocol"]} - {protocol for protocol, _ in FIRST})
    measured = {*zip(rows["protocol"], rows["metric"], strict=True)}
    return [part for part in (*FIRST, *((protocol, "accuracy") for protocol in further)) if part in measured]
