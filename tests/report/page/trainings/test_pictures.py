"""Does the page show what networks drew, beside the images, with whose pictures they are?"""

import base64
import io
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from PIL import Image
from tests.report.pages import Outline, page_of
from tests.results.samples import make_training

from netdyno.report.page.trainings.pictures import GAP
from netdyno.results.pictures import Pictures
from netdyno.results.record import Record
from netdyno.results.result import results_of

COUNT, HEIGHT, WIDTH = 3, 4, 5
IMAGES = np.arange(COUNT * HEIGHT * WIDTH, dtype=np.uint8)


def _pictures(made: Any = 255 - IMAGES, **changes: Any) -> Pictures:
    given = {"height": HEIGHT, "width": WIDTH, "channels": 1, "images": IMAGES.tobytes(), "sees_images": True}
    return Pictures(**{**given, "made": made.tobytes(), **changes})


def _training(seed: int = 1, framework: str = "alpha", **changes: Any) -> Record:
    cell = replace(make_training().cell, framework=framework)
    return make_training(seed, id=f"{framework}-{seed}", cell=cell, **{"pictures": _pictures(), **changes})


def _page(*records: Record, **more: Any) -> Outline:
    return Outline(page_of([], trainings=results_of(records), **more))


def _images(page: Outline) -> list[tuple[str, Any]]:
    """The alternative text and the pixels of each image of the page."""
    found = [attributes for tag, attributes in page.tags if tag == "img"]
    start = "data:image/png;base64,"
    assert all(str(each["src"]).startswith(start) for each in found)
    files = [base64.b64decode(str(each["src"]).removeprefix(start), validate=True) for each in found]
    return [
        (str(each["alt"]), np.asarray(Image.open(io.BytesIO(file)))) for each, file in zip(found, files, strict=True)
    ]


def test_each_strip_is_an_image_of_the_right_size_with_nothing_between_pictures() -> None:
    (_, images), (_, made) = _images(_page(_training()))
    assert images.shape == made.shape == (HEIGHT, COUNT * (WIDTH + GAP) - GAP, 2)
    first, second = made[:, :WIDTH], made[:, WIDTH + GAP : 2 * WIDTH + GAP]
    np.testing.assert_array_equal(first[..., 0].ravel(), 255 - IMAGES[: HEIGHT * WIDTH])
    np.testing.assert_array_equal(second[..., 0].ravel(), 255 - IMAGES[HEIGHT * WIDTH : 2 * HEIGHT * WIDTH])
    assert made[:, WIDTH : WIDTH + GAP, 1].max() == 0
    assert first[..., 1].min() == 255


def test_colours_are_shown_as_colours() -> None:
    pixels = np.arange(2 * 2 * 2 * 3, dtype=np.uint8)
    own = _pictures(pixels, height=2, width=2, channels=3, images=pixels.tobytes())
    (_, images), _ = _images(_page(_training(pictures=own)))
    assert images.shape == (2, 4 + GAP, 4)
    assert images[0, 1, :3].tolist() == [3, 4, 5]


def test_an_image_says_in_words_whose_it_is() -> None:
    words = [alt for alt, _ in _images(_page(_training(2)))]
    assert words[0] == "The first 3 images of the test split."
    assert words[1].startswith("alpha, seed 2: 3 pictures, what it made of the test images above")


@pytest.mark.parametrize(
    ("sees_images", "title", "words"),
    [
        (True, "Reconstructions", "made of the images in the first row"),
        (False, "Samples", "without seeing the images"),
    ],
)
def test_reconstructions_and_samples_are_told_apart(sees_images: bool, title: str, words: str) -> None:
    text = _page(_training(pictures=_pictures(sees_images=sees_images))).text
    assert title in text
    assert words in text


def test_frameworks_share_the_images_that_are_the_same() -> None:
    frameworks = ("alpha", "beta", "gamma")
    words = [alt for alt, _ in _images(_page(*(_training(framework=name) for name in frameworks)))]
    assert [alt.split()[0] for alt in words] == ["The", "alpha,", "beta,", "gamma,"]
    other = _pictures(images=bytes(IMAGES.size))
    words = [alt for alt, _ in _images(_page(_training(), _training(framework="beta", pictures=other)))]
    assert [alt.split()[0] for alt in words] == ["The", "alpha,", "The", "beta,"]


def test_the_newest_seed_is_shown() -> None:
    other = _pictures(IMAGES)
    (_, images), (alt, made) = _images(_page(_training(1), _training(2, pictures=other)))
    assert "seed 2" in alt
    np.testing.assert_array_equal(images, made)


def test_pictures_that_only_the_store_has_are_looked_up() -> None:
    asked: list[str] = []

    def find(ids: Any) -> dict[str, Pictures]:
        asked.extend(ids)
        return {"alpha-2": _pictures()}

    page = _page(_training(1, pictures=None), _training(2, pictures=None), pictures=find)
    assert len(_images(page)) == 2
    assert asked == ["alpha-2"]


def test_a_training_without_pictures_has_no_sheet() -> None:
    page = _page(_training(pictures=None))
    assert _images(page) == []
    assert "Reconstructions" not in page.text
