"""Every figure that the rows serve, small enough for a page: PNG by a palette, as data URIs."""

import base64
import io
from collections.abc import Sequence
from html import escape

import pandas as pd
from PIL import Image

from extrap import figures
from extrap.utils.errors import UserError

SHARE = 100 / 160
"""Of the pixels of a committed figure."""
COLOURS = 256


def pictures(rows: pd.DataFrame, room: int, plugins: Sequence[str] = ()) -> str:
    """Figures with their captions, in the order of their names, as many as `room` bytes hold. A
    line names the figures without room, with the command that draws them, and the figures that
    cannot be drawn, with the reason. plugins: packages with figures of their own.
    """
    out = []
    failed = []
    left_out = []
    for name, figure in figures.available(plugins=plugins).items():
        try:
            drawn = figures.render(figure, rows, kinds=("png",))
        except UserError as error:
            failed.append(f"<p>Not drawn: <b>{name}</b>: {escape(str(error))}</p>")
            continue
        if drawn is None:
            continue
        caption = figures.caption(figure)
        data = base64.b64encode(_small(drawn["png"])).decode()
        shown = (
            f'<figure id="figure-{name}"><img loading="lazy" alt="{escape(caption)}" '
            f'src="data:image/png;base64,{data}"><figcaption><b>{name}</b> {escape(caption)}'
            "</figcaption></figure>"
        )
        if len(shown) > room:
            left_out.append(name)
            continue
        room -= len(shown)
        out.append(shown)
    if left_out:
        words = ["extrap plot", *sorted(set(rows["study"])), *left_out]
        words += ["--plugins", ",".join(plugins)] if plugins else []
        line = " ".join(words)
        out.append(f"<p>Too large for this page: <code>{escape(line)}</code></p>")
    return "".join([*out, *failed]) or "<p>The rows serve no figure.</p>"


def _small(png: bytes) -> bytes:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    size = [round(side * SHARE) for side in image.size]
    reduced = image.resize(size, Image.Resampling.LANCZOS).quantize(
        COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
    )
    buffer = io.BytesIO()
    reduced.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
