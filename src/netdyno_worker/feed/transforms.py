"""How pixels become a network's input: cropped, flipped, scaled per channel and laid out channel by channel."""

import numpy as np
from numpy.lib.stride_tricks import as_strided

# Of input, made at once: few calls, because threads take turns at Python's lock between any two, but no more than a
# cache holds.
CHUNK_BYTES = 1 << 22


class Transform(object):
    """Follows a rule {"mean", "std" (per channel, of pixels in 0..1), "crop" (side or None), "pad", "flip"}.

    With a generator crops and flips are random; without one the crop is the centre, and nothing is padded.
    """

    def __init__(self, rule, shape, wanted):
        """`shape` is (height, width, channels) of the pixels; `wanted` (channels, height, width) of the input."""
        _check(rule, shape, wanted)
        self._wanted = wanted
        self._pad = rule["pad"]
        self._crops = rule["crop"] is not None
        self._flips = rule["flip"]
        self._factors = _per_channel([1.0 / (255.0 * std) for std in rule["std"]])
        self._offsets = _per_channel([-mean / std for mean, std in zip(rule["mean"], rule["std"])])

    def apply(self, pixels, into, random=None):
        """Fill `into` (count, channels, height, width) from `pixels`."""
        if random is None:
            self._scale(self._centred(pixels), into)
            return
        if self._crops:
            pixels = self._cropped(pixels, random)
        self._scale(pixels, into, random.randint(0, 2, size=len(pixels)) == 1 if self._flips else None)

    def _centred(self, pixels):
        height, width = self._wanted[1:]
        top, left = (pixels.shape[1] - height) // 2, (pixels.shape[2] - width) // 2
        return pixels[:, top : top + height, left : left + width]

    def _cropped(self, pixels, random):
        """A copy of one window of each image; what was padded is black."""
        if self._pad:
            pixels = np.pad(pixels, [(0, 0), (self._pad,) * 2, (self._pad,) * 2, (0, 0)], "constant")
        windows = _windows(pixels, self._wanted[1:])
        count, tops, lefts = windows.shape[:3]
        return windows[np.arange(count), random.randint(0, tops, size=count), random.randint(0, lefts, size=count)]

    def _scale(self, pixels, into, flipped=None):
        """One multiplication and one addition in single precision: the same bits under every NumPy."""
        at_once = max(1, CHUNK_BYTES // into[0].nbytes)
        for first in range(0, len(pixels), at_once):
            some = slice(first, first + at_once)
            made = into[some]
            _lay_out(pixels[some].transpose(0, 3, 1, 2), made, None if flipped is None else flipped[some])
            made *= self._factors
            made += self._offsets


def _lay_out(planes, into, flipped):
    """Copy, the flipped ones mirrored."""
    if flipped is None:
        into[...] = planes
    else:
        into[flipped] = planes[flipped][..., ::-1]
        into[~flipped] = planes[~flipped]


def _per_channel(values):
    return np.array(values, np.float32).reshape(-1, 1, 1)


def _windows(images, size):
    """Every window of that size as a view (count, tops, lefts, height, width, channels)."""
    count, height, width, channels = images.shape
    image, row, column, channel = images.strides
    shape = (count, height - size[0] + 1, width - size[1] + 1, size[0], size[1], channels)
    return as_strided(images, shape, (image, row, column, row, column, channel), writeable=False)


def _check(rule, shape, wanted):
    height, width, channels = shape
    for name in ("mean", "std"):
        _expect(len(rule[name]) == channels, "a %s for each of %d channels" % (name, channels), len(rule[name]))
    _expect(all(std > 0 for std in rule["std"]), "deviations over 0", rule["std"])
    crop, pad = rule["crop"], rule["pad"]
    _expect(crop is None or crop <= min(height, width), "images of at least %s pixels to crop" % crop, shape)
    _expect(crop is not None or not pad, "padding only where images are cropped", "padding of %d" % pad)
    given = (channels, height, width) if crop is None else (channels, crop, crop)
    _expect(given == tuple(wanted), "images of (channels, height, width) %s" % (tuple(wanted),), given)


def _expect(holds, expected, received):
    if not holds:
        raise ValueError("transforms: expected %s, received %s" % (expected, received))
