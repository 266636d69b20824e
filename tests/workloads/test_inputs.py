"""What cells with real data are fed: the network's own window, and the images that lie nearest to the user's."""

import io
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from PIL import Image

from netdyno.bench.cells import Bench
from netdyno.data.catalog import find_dataset
from netdyno.data.formats.registry import formats
from netdyno.data.item import About, Item
from netdyno.data.packing import Ready
from netdyno.data.places import folder_of, open_dataset
from netdyno.errors import NetdynoError
from netdyno.workloads.inputs import input_files, input_key, prepare_inputs
from netdyno.zoo.catalog import find_entry

CLASSES = ("cat", "dog")


def _ready(tmp_path, shape, format_name="folder"):
    about = About(count=10, classes=CLASSES, shape=shape)
    return Ready(source="imagenet", format=format_name, folder=tmp_path, about=about)


def test_images_are_cropped_to_what_the_network_looks_at_not_to_what_the_dataset_is_usually_cut_to(tmp_path):
    for network, size in (("alexnet", 227), ("vgg16", 224)):
        inputs = input_files(find_entry(network, "imagenet"), _ready(tmp_path, None))
        assert inputs.transforms.crop == size


def test_images_smaller_than_the_window_are_refused(tmp_path):
    with pytest.raises(NetdynoError, match="at least 227×227×3, received 224×224×3"):
        input_files(find_entry("alexnet", "imagenet"), _ready(tmp_path, (224, 224, 3)))


def test_only_images_that_are_cropped_are_resized(tmp_path):
    cell = Bench(threads=1, folder=tmp_path, framework="pytorch-2").complete({"network": "vgg16/imagenet"})
    inputs = input_files(find_entry("vgg16", "imagenet"), _ready(tmp_path, None))
    assert inputs.files(cell).transforms.resized
    grey = replace(inputs, transforms=msgspec.structs.replace(inputs.transforms, crop=None))
    assert not grey.files(cell).transforms.resized


def test_two_networks_on_one_dataset_are_each_given_their_own_window(tmp_path):
    _write(tmp_path, "imagenet", "packed", (256, 256, 3))
    bench = Bench(threads=1, folder=tmp_path, framework="pytorch-2")
    cells = [bench.complete({"network": f"{name}/imagenet", "data": "packed"}) for name in ("alexnet", "vgg16")]
    inputs = prepare_inputs(cells, bench.entry_of, tmp_path, lambda *_: None)
    assert [inputs[input_key(cell)].transforms.crop for cell in cells] == [227, 224]


def test_the_users_own_images_come_before_copies_of_them_and_encoded_ones_before_pixels(tmp_path):
    imagenet = replace(find_dataset("imagenet"), format="ilsvrc")
    _write(tmp_path, "imagenet", "packed", (8, 8, 3))
    _write(tmp_path, "imagenet", "tfrecord", None)
    assert open_dataset(tmp_path, imagenet, "train").item(0).encoded is not None
    own = tmp_path / "own"
    _write(own, "imagenet", "folder", None)
    folder_of(tmp_path, "imagenet", "folder").symlink_to(folder_of(own, "imagenet", "folder"))
    assert type(open_dataset(tmp_path, imagenet, "train")).__name__ == "ImageFolder"


def _write(home, name, format_name, shape):
    image = np.zeros(shape or (8, 8, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG")
    folder = folder_of(home, name, format_name)
    folder.mkdir(parents=True)
    for split in ("train", "test"):
        writer = formats()[format_name].create(folder, split, About(count=2, classes=CLASSES, shape=shape))
        content = {"pixels": image} if shape else {"encoded": file.getvalue()}
        writer.write([Item(name=f"{number}.jpg", label=number, **content) for number in range(2)])
        writer.finish()
        writer.close()
