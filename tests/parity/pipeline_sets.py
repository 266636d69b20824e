"""What pipelines are asked to read: small sets whose images tell their number, and whose pixels tell where they were.

So what was cropped, scaled and flipped can be read off a batch.
"""

import io
from dataclasses import replace

import numpy as np
from PIL import Image
from sketch import SGD, Sketch  # beside the worker's tests

from netdyno.data.formats.registry import formats
from netdyno.data.item import About, Item

COUNT, EPOCHS, BATCH = 48, 5, 20  # no epoch ends with a batch, but all of them together do
SIDE, GREY, CROP, PAD, RESIZED = 64, 28, 60, 4, 48
CLASSES = ("ant", "bee", "cat")
STEEP, APART = 3, 5  # levels from a pixel to the next, and from an image to the next
DAMAGED = 20  # the number of the image that cannot be decoded

whole = {"mean": (0.5, 0.4, 0.3), "std": (0.25, 0.2, 0.3), "crop": None, "pad": 0, "flip": False, "resized": False}
grey = {**whole, "mean": (0.5,), "std": (0.25,)}
cropped = {**whole, "crop": CROP, "pad": PAD, "flip": True}
resized = {**whole, "crop": RESIZED, "flip": True, "resized": True}


def asked(format_name, folder, name):
    """A set, written in a format under its name, and what a framework must know to be fed with it."""
    items, transforms, side = CASES[name]
    shape = None if items[0].pixels is None else items[0].pixels.shape
    about = About(count=COUNT, classes=CLASSES, shape=shape)
    writer = formats()[format_name].create(folder / name, "train", about)
    writer.write(items)
    writer.finish()
    files = {"format": format_name, "root": str(folder / name), "split": "train", "transforms": transforms}
    files |= {"threads": 2, "count": COUNT, "classes": len(CLASSES), "seed": 7}
    wire = _network(len(transforms["mean"]), side)
    return {"name": name, "wire": wire, "files": files, "batches": EPOCHS * COUNT // BATCH}


def decoded(items):
    """Their pixels as levels."""
    return np.array([np.asarray(Image.open(io.BytesIO(item.encoded))) for item in items], float)


def _image(number):
    """Red tells the row, green the column, blue the number."""
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    planes = [STEEP * rows, STEEP * columns, np.full((SIDE, SIDE), APART * number)]
    file = io.BytesIO()
    Image.fromarray(np.stack(planes, axis=2).astype(np.uint8)).save(file, "JPEG", quality=95, subsampling=0)
    return Item(name=f"{number}.jpg", label=number % len(CLASSES), encoded=file.getvalue())


def _grey(number):
    rows, columns = np.mgrid[0:GREY, 0:GREY]
    file = io.BytesIO()
    Image.fromarray((STEEP * rows + 2 * columns + number).astype(np.uint8)).save(file, "PNG")
    return Item(name=f"{number}.png", label=number % len(CLASSES), encoded=file.getvalue())


def _plain(number):
    """Pixels, which some formats keep as they are."""
    pixels = np.random.RandomState(number).randint(0, 256, (GREY, GREY, 3)).astype(np.uint8)
    pixels[0, 0] = number
    return Item(name=str(number), label=number % len(CLASSES), pixels=pixels)


def _damaged(item):
    """A JPEG whose code tables make no sense, though it has its marks and an end."""
    at = item.encoded.index(b"\xff\xc4") + 5
    return replace(item, encoded=item.encoded[:at] + b"\xff" * 16 + item.encoded[at + 16 :])


def _network(channels, side):
    """It shows its images, and the gradient of a bias for each image shows their labels."""
    sketch = Sketch()
    shape, count = [BATCH, channels, side, side], channels * side * side
    sketch.input("images", shape)
    sketch.input("labels", [BATCH], 0, len(CLASSES), "integers")
    sketch.parameter("weight", [len(CLASSES), count], -0.001, 0.001)
    sketch.parameter("bias", [BATCH, len(CLASSES)], 0.0, 0.0)
    sketch.node("seen", "scale", ["images"], shape, factor=1.0)
    sketch.node("flat", "flatten", ["seen"], [BATCH, count])
    sketch.node("products", "linear", ["flat", "weight"], [BATCH, len(CLASSES)])
    sketch.node("logits", "add", ["products", "bias"], [BATCH, len(CLASSES)])
    sketch.node("loss", "softmax_cross_entropy", ["logits", "labels"], [])
    sketch.update("loss", {**SGD, "learning_rate": 1e-9})
    return sketch.wire("seen")


COLOURED = [_image(number) for number in range(COUNT)]
GREYS = [_grey(number) for number in range(COUNT)]
PLAIN = [_plain(number) for number in range(COUNT)]
CASES = {  # images, transforms, the side of what a network is given
    "whole": (COLOURED, whole, SIDE),
    "grey": (GREYS, grey, GREY),
    "plain": (PLAIN, whole, GREY),
    "cropped": (COLOURED, cropped, CROP),
    "resized": (COLOURED, resized, RESIZED),
    "damaged": ([*COLOURED[:DAMAGED], _damaged(COLOURED[DAMAGED]), *COLOURED[DAMAGED + 1 :]], whole, SIDE),
}
