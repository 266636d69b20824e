"""The datasets by name agree with what the networks expect of them, and with themselves."""

import pytest

from netdyno.data.catalog import CIFAR10, MNIST, check_about, datasets, find_dataset
from netdyno.data.item import SPLITS, About
from netdyno.errors import NetdynoError
from netdyno.zoo.items import IMAGE, all_items


def test_the_networks_datasets_are_in_the_catalog_with_the_same_counts_and_shapes():
    images = [items for items in all_items() if items.kind == IMAGE and items.count]  # others are only drawn
    assert len(images) == 3
    for expected in images:
        found = find_dataset(expected.name)
        assert found.shape == (*expected.shape[1:], expected.shape[0])
        assert len(found.classes) == expected.classes
        assert found.counts["train"] == expected.count


def test_every_dataset_has_both_splits_and_distinct_classes():
    for dataset in datasets().values():
        assert tuple(dataset.counts) == SPLITS
        assert len(set(dataset.classes)) == len(dataset.classes)


def test_published_sizes_are_those_of_the_counts():
    sizes = {content.name: content.bytes for content in MNIST.contents}
    assert sizes["train-images-idx3-ubyte"] == 16 + 60_000 * 28 * 28
    assert sizes["t10k-labels-idx1-ubyte"] == 8 + 10_000
    batches = [content.bytes for content in CIFAR10.contents if content.name.endswith(".bin")]
    assert batches == [10_000 * (1 + 3072)] * 6


def test_digests_have_the_length_of_an_md5_and_none_occurs_twice():
    files = [published for dataset in datasets().values() for published in dataset.files]
    digests = [published.md5 for published in files]
    digests += [content.md5 for published in files for content in published.contents if content.md5]
    assert all(len(digest) == 32 and int(digest, 16) for digest in digests)
    assert len(set(digests)) == len(digests) == 17


def test_drawn_datasets_have_the_exact_shape_of_the_one_they_stand_for():
    for drawn, real in (("shapes", "mnist"), ("shapes-cifar10", "cifar10"), ("shapes-imagenet", "imagenet")):
        assert find_dataset(drawn).shape == find_dataset(real).shape
        assert find_dataset(drawn).counts == find_dataset(real).counts
        assert len(find_dataset(drawn).classes) == len(find_dataset(real).classes)


def test_a_misspelt_name_is_answered_with_the_nearest():
    with pytest.raises(NetdynoError, match="Did you mean 'fashion-mnist'"):
        find_dataset("fashon-mnist")


def test_a_part_of_a_dataset_is_welcome():
    check_about(MNIST, "test", About(count=100, classes=tuple("012"), shape=(28, 28, 1)))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (About(count=100, classes=tuple("012"), shape=(32, 32, 3)), "28×28×1, received 32×32×3"),
        (About(count=100, classes=tuple("0123456789ab")), "at most 10 classes, received 12"),
        (About(count=10_001, classes=tuple("012")), "at most 10,000 images, received 10,001"),
    ],
)
def test_what_cannot_be_the_dataset_is_refused(found, words):
    with pytest.raises(NetdynoError, match=words):
        check_about(MNIST, "test", found)
