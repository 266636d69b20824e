"""How a file becomes a network's input where a framework leaves images to Pillow and to its user."""

import math

import numpy as np
from PIL import Image

TRIES = 10  # for a window that fits in the image


class Augmented(object):
    """Opens, crops, flips and scales as files' transforms say; `shape` is (channels, height, width)."""

    def __init__(self, rule, shape):
        self._rule = rule
        self._shape = shape
        self._mode = "L" if shape[0] == 1 else "RGB"
        self._mean = np.array(rule["mean"], np.float32) * np.float32(255)
        self._factor = np.float32(1 / 255.0) / np.array(rule["std"], np.float32)

    def array(self, path, random):
        """The image as float32, channel by channel; `random` is a numpy RandomState."""
        image = self._cropped(opened(path, self._mode), random)
        if self._rule["flip"] and random.randint(2):
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
        pixels = np.asarray(image, np.float32).reshape(image.size[1], image.size[0], -1)
        scaled = np.ascontiguousarray(((pixels - self._mean) * self._factor).transpose(2, 0, 1))
        if scaled.shape != self._shape:
            raise ValueError("'%s': expected an image of %s, received %s" % (path, self._shape, scaled.shape))
        return scaled

    def _cropped(self, image, random):
        crop, pad = self._rule["crop"], self._rule["pad"]
        if crop is None:
            return image
        if self._rule["resized"]:
            return image.resize((crop, crop), Image.BILINEAR, random_window(image.size, random))
        if pad:
            image = image.crop((-pad, -pad, image.size[0] + pad, image.size[1] + pad))  # outside it is black
        left, top = (random.randint(max(1, length - crop + 1)) for length in image.size)
        return image.crop((left, top, min(left + crop, image.size[0]), min(top + crop, image.size[1])))


def opened(path, mode):
    """Decoded wholly."""
    try:
        with open(path, "rb") as file, Image.open(file) as image:
            return image.convert(mode)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError("'%s': expected an image, received: %s" % (path, error))


def random_window(size, random):
    """(left, top, right, bottom) of 8 to 100 % of the area, its aspect between 3/4 and 4/3; the whole if none fits."""
    for _ in range(TRIES):
        area = random.uniform(0.08, 1.0) * size[0] * size[1]
        aspect = math.exp(random.uniform(math.log(3.0 / 4.0), math.log(4.0 / 3.0)))
        width, height = int(round(math.sqrt(area * aspect))), int(round(math.sqrt(area / aspect)))
        if 0 < width <= size[0] and 0 < height <= size[1]:
            left, top = random.randint(size[0] - width + 1), random.randint(size[1] - height + 1)
            return left, top, left + width, top + height
    return (0, 0) + tuple(size)
