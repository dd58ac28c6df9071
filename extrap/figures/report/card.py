"""A length card as SVG: losses and accuracies at multiples of L, and effective lengths."""

from html import escape
from typing import Any

from extrap.utils.progress import clock

WIDTH, LINE, LEFT = 560, 18, 14
STYLE = "text{font:13px system-ui,sans-serif;fill:#1c1c1e}.h{font-weight:600}.q{fill:#5c5f66}"


def svg(card: dict[str, Any]) -> str:
    """Returns the card as one SVG; every text of it comes from rows and is escaped."""
    lines = [*_lines(card)]
    height = LINE * (len(lines) + 1) + 10
    body = "".join(
        f'<text x="{LEFT}" y="{LINE * (n + 1) + 4}"{kind}>{escape(line)}</text>'
        for n, (kind, line) in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}"><style>{STYLE}</style>'
        f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" fill="#fff" '
        f'stroke="#d8dade" rx="6"/>{body}</svg>\n'
    )


def _lines(card: dict[str, Any]):
    """Yields (attributes, text) of each line."""
    size = f", {card['parameters']:,} parameters" if card["parameters"] else ""
    yield ' class="h"', f"{card['series']}: L = {card['train_length']} tokens{size}"
    seeds = len(card["seeds"])
    lost = f", {card['below_the_gate']} below the gate" if card["below_the_gate"] else ""
    yield ' class="q"', f"{seeds} seed{'s' * (seeds > 1)}{lost}; measured by extrap"
    for place, length in card["effective_length"].items():
        least = ">= " if length["at_least"] else ""
        yield "", f"effective length, {place}: {least}{length['tokens']:g} tokens"
    for title, name in (("nats per token", "loss"), ("accuracy", "found")):
        for place, at in card[name].items():
            known = (f"{of}: {three[0]:.2f}" for of, three in at.items() if three[0] is not None)
            yield "", f"{title}, {place}: {', '.join(known)}"
    for place, at in card["worst_depth"].items():
        *_, (of, (value, depth)) = at.items()
        yield "", f"worst depth, {place} at {of}: {value:.2f} at depth {depth:g}"
    if layers := dict(card.get("layers", {})):
        number = layers.pop("number")
        said = [f"{number}"]
        for name, by_value in layers.items():  # what all layers share is in the YAML
            some = [(value, count) for value, count in by_value.items() if count < number]
            said += [f"{name} {value} in {count}" for value, count in some]
        yield "", f"layers: {', '.join(said)}"
    if cost := card.get("cost"):
        wall, processor = (clock(cost[name]) for name in ("seconds", "processor_seconds"))
        yield "", f"cost of training and evaluation: {wall}, {processor} of processors"
