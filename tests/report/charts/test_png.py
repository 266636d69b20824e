"""Is a PNG file that is written here what others read from it?"""

import io

import numpy as np
import pytest
from PIL import Image

from netdyno.report.charts.png import png


@pytest.mark.parametrize(("channels", "mode"), [(2, "LA"), (4, "RGBA")])
def test_others_read_the_same_pixels(channels: int, mode: str) -> None:
    image = np.random.default_rng(1).integers(0, 256, size=(5, 7, channels), dtype=np.uint8)
    read = Image.open(io.BytesIO(png(image)))
    assert (read.mode, read.size) == (mode, (7, 5))
    np.testing.assert_array_equal(np.asarray(read), image)
