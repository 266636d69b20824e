"""JPEGs such as a camera would give, by seed: smooth light, straight edges, grain; of mixed sizes, in ten classes."""

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SEED = 20260
CLASSES = 10
HEIGHTS, WIDTHS = (224, 260), (224, 300)  # from and to, both counted
QUALITY = 85
EDGES = 6
GRAIN = 6.0  # standard deviation of the noise


def make_photos(root: Path, count: int) -> None:
    """As a folder for each class under `train`; the same seed gives the same pixels."""
    for index in range(count):
        folder = root / "train" / f"class_{index % CLASSES}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"photo_{index:05d}.jpg").write_bytes(photo(np.random.default_rng((SEED, index))))


def photo(draws: np.random.Generator) -> bytes:
    """One of them, encoded."""
    height, width = (int(draws.integers(low, high, endpoint=True)) for low, high in (HEIGHTS, WIDTHS))
    pixels = light(draws, height, width) + edges(draws, height, width)
    pixels += draws.normal(0, GRAIN, (height, width, 1)).astype(np.float32)
    file = io.BytesIO()
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(file, "JPEG", quality=QUALITY)
    return file.getvalue()


def light(draws: np.random.Generator, height: int, width: int) -> NDArray[np.float32]:
    """Thirty colours, and everything between them."""
    coarse = draws.integers(0, 256, (5, 6, 3), np.uint8)
    return np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC), np.float32)


def edges(draws: np.random.Generator, height: int, width: int) -> NDArray[np.float32]:
    """Lines across the image: one side of each is brighter, in some colour."""
    rows, columns = np.arange(height, dtype=np.float32)[:, None], np.arange(width, dtype=np.float32)
    total = np.zeros((height, width, 3), np.float32)
    for _ in range(EDGES):
        angle = draws.uniform(0, np.pi)
        row, column = draws.uniform(0, height), draws.uniform(0, width)
        beyond = np.cos(angle) * (columns - column) + np.sin(angle) * (rows - row) > 0
        total += np.where(beyond, 1, -1)[:, :, None] * draws.uniform(-25, 25, 3).astype(np.float32)
    return total
