"""The parts of the training data, as training rows name them, and the curve that shows each."""

TITLES = {"nll": "loss (nats per token)", "accuracy": "accuracy in training"}
LEARNED = 0.9


def parts(rows) -> list[tuple[str, str]]:
    """(protocol, metric) of every part with points in training rows: losses, then accuracies, by
    name. A part is drawn by its accuracy where some run comes to nine right answers in ten, else by
    its loss: accuracy on running text, or of answers that are drawn at random, has no such end.
    """
    found = []
    for protocol, part in rows.groupby("protocol"):
        best = part.groupby("metric")["value"].max()
        learned = "nll" not in best or best.get("accuracy", 0) >= LEARNED
        found.append((str(protocol), "accuracy" if learned else "nll"))
    return sorted(found, key=lambda part: (part[1] != "nll", part[0]))
