"""Every figure that the rows serve, small enough for a page: PNG by a palette, as data URIs."""

import base64
import io
from collections.abc import Iterable
from html import escape

import pandas as pd
from PIL import Image

from extrap import figures

SHARE = 100 / 160
"""Of the pixels of a committed figure."""
COLOURS = 256


def pictures(rows: pd.DataFrame, room: int, plugins: Iterable[str] = ()) -> str:
    """Figures with their captions, in the order of their names, as many as `room` bytes hold; the
    others are named with the command that draws them. plugins: packages with figures of their own.
    """
    out = []
    left_out = []
    for name, figure in figures.available(plugins=plugins).items():
        drawn = figures.render(figure, rows, kinds=("png",))
        if drawn is None:
            continue
        caption = figures.caption(figure)
        data = base64.b64encode(_small(drawn["png"])).decode()
        words = (
            f'<figure id="figure-{name}"><img loading="lazy" alt="{escape(caption)}" '
            f'src="data:image/png;base64,{data}"><figcaption><b>{name}</b> {escape(caption)}'
            "</figcaption></figure>"
        )
        if len(words) > room:
            left_out.append(name)
            continue
        room -= len(words)
        out.append(words)
    if left_out:
        study = rows["study"].iloc[0]
        line = f"extrap plot {study} {' '.join(left_out)}"
        out.append(f"<p>Too large for this page: <code>{escape(line)}</code></p>")
    return "".join(out) or "<p>The rows serve no figure.</p>"


def _small(png: bytes) -> bytes:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    size = [round(side * SHARE) for side in image.size]
    reduced = image.resize(size, Image.Resampling.LANCZOS).quantize(
        COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
    )
    buffer = io.BytesIO()
    reduced.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
