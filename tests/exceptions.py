"""Contract checks a component is excused from: {(name, check): reason}. Strict: an excuse that is not needed fails."""

EXCUSED: dict[tuple[str, str], str] = {
    ("multi-axis-rope", "shift_invariance_is_what_the_card_says"): "relative in line and column: a shift by whole lines alone is not felt",
    ("randomised-rope", "prefix_consistency"): "evenly spaced positions move as the text grows; test=stride does not",
    ("fire", "shift_invariance_is_what_the_card_says"): "from place L_f on the distance is divided by the place of the query itself",
}
