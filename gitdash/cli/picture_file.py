"""Writes the picture of an experiment to a file: SVG as it is, PNG with Pillow, which the extra `plot` installs."""

import os
import stat
from typing import TYPE_CHECKING, Final

from gitdash.errors import GitdashError
from gitdash.export.experiment_picture import Box, Picture, Point, Shape, svg_text
from gitdash.units import printable

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

ENDINGS: Final = (".svg", ".png")
_PIXELS: Final = 2
"""For each unit of the picture: sharp also where it is printed."""
_ANCHORS: Final = {"start": "ls", "middle": "ms", "end": "rs"}
"""Pillow's words for where a text lies: at its left end, middle or right end, and on its base line."""


class PictureError(GitdashError):
    """A picture cannot be written; the text is one sentence."""


def require_picture_file(path: str) -> None:
    """Raise PictureError now rather than after the runs if no picture can be written there."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in ENDINGS:
        raise PictureError(f"{printable(path)}: a plot is written as {' or '.join(ENDINGS)}")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise PictureError(f"{printable(path)} cannot be written: there is no folder {printable(folder)}")
    _require_regular(path)
    if ending == ".png":
        _require_pillow()


def _require_regular(path: str) -> None:
    """Refuse what is there and is no file: a FIFO would wait for a reader, and a device takes bytes as commands."""
    try:
        found = os.stat(path)
    except OSError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise PictureError(f"{printable(path)} cannot be written: it is there, and is no file")


def write_picture(picture: Picture, path: str) -> None:
    """Write a picture, in place of a file of the same name. Raises PictureError."""
    # runs take minutes, after which something else may be there
    _require_regular(path)
    try:
        if path.lower().endswith(".png"):
            _write_png(picture, path)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(svg_text(picture))
    except OSError as error:
        raise PictureError(f"{printable(path)} cannot be written: {(error.strerror or 'failed').lower()}") from error


def _require_pillow() -> None:
    try:
        import PIL.ImageDraw  # noqa: F401 - whether it is there
    except ImportError as error:
        message = (
            "a plot as .png needs Pillow: write .svg, or in the folder of gitdash's source, pip install -c"
            " constraints.txt '.[plot]'"
        )
        raise PictureError(message) from error


def _write_png(picture: Picture, path: str) -> None:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (picture.width * _PIXELS, picture.height * _PIXELS), "#ffffff")
    draw = ImageDraw.Draw(image)
    for shape in picture.shapes:
        _draw(draw, shape)
    image.save(path, format="PNG")


def _draw(draw: "ImageDraw", shape: Shape) -> None:
    from PIL import ImageFont

    match shape:
        case Box():
            corners = (shape.left, shape.top, shape.left + shape.width, shape.top + shape.height)
            draw.rectangle([corner * _PIXELS for corner in corners], fill=shape.colour)
        case Point():
            circle = (shape.x - shape.radius, shape.y - shape.radius, shape.x + shape.radius, shape.y + shape.radius)
            draw.ellipse([place * _PIXELS for place in circle], fill=shape.colour)
        case _:
            # the one that Pillow has in itself: none is searched for
            font = ImageFont.load_default(shape.height * _PIXELS)
            place = (shape.x * _PIXELS, shape.y * _PIXELS)
            draw.text(place, shape.text, fill=shape.colour, font=font, anchor=_ANCHORS[shape.anchor])
