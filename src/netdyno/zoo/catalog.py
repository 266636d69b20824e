"""Which networks there are, on which dataset, where they come from and what is published about their size."""

from netdyno.errors import NetdynoError, unknown
from netdyno.graph.check import check_programme
from netdyno.graph.model import Draw, Programme
from netdyno.zoo.alexnet import alexnet, alexnet_cifar10, alexnet_owt
from netdyno.zoo.builder import Net
from netdyno.zoo.datasets import CIFAR10, IMAGENET, MNIST
from netdyno.zoo.entry import Entry, Recipe
from netdyno.zoo.googlenet import googlenet, googlenet_bn, googlenet_cifar10
from netdyno.zoo.lenet import lenet
from netdyno.zoo.resnet import resnet50, resnet50_cifar10
from netdyno.zoo.vector_entries import VECTOR_ENTRIES
from netdyno.zoo.vgg import vgg16, vgg16_cifar10

__all__ = ["Entry", "Recipe", "entries", "find_entry", "find_network", "resolve"]


def entries(family: str | None = None) -> tuple[Entry, ...]:
    """The nine cases of the thesis, the later forms of two of them, vectors, instruments; or one family of these."""
    return tuple(entry for entry in _ENTRIES if family in (None, entry.family))


def find_network(network: str) -> tuple[Entry, ...]:
    """Every entry of that network, or an error with the nearest name."""
    found = tuple(entry for entry in _ENTRIES if entry.network == network)
    if not found:
        raise unknown("network", network, {entry.network for entry in _ENTRIES})
    return found


def find_entry(network: str, dataset: str | None = None) -> Entry:
    """The network on that dataset; without one, on the first dataset it has."""
    found = find_network(network)
    if dataset is None:
        return found[0]
    for entry in found:
        if entry.dataset.name == dataset:
            return entry
    if dataset not in {entry.dataset.name for entry in _ENTRIES}:
        raise unknown("dataset", dataset, {entry.dataset.name for entry in _ENTRIES})
    names = ", ".join(entry.dataset.name for entry in found)
    raise NetdynoError(f"network '{network}': expected a dataset among {names}, received '{dataset}'.")


def resolve(entry: Entry, batch: int, *, image_size: int | None = None) -> Programme:
    """The graph and updates of an entry for one batch size, checked."""
    size = entry.image_size if image_size is None else image_size
    net = Net(batch=batch, classes=entry.dataset.classes, learning_rate=entry.learning_rate)
    images = net.input("images", (batch, entry.dataset.channels, size, size), Draw(kind="normal"), kind="image")
    programme = net.programme(entry.build(net, images))
    check_programme(programme)
    return programme


_IMAGES = (
    Entry(
        network="lenet",
        dataset=MNIST,
        build=lenet,
        source="LeCun et al. 1998, Gradient-based learning applied to document recognition: LeNet-5, about 60 k",
        parameters=61_706,
        macs=416_520,
        batch=64,
        learning_rate=0.01,
        image_size=28,
        verify_size=28,
        steps=938,
        note="28x28 padded by 2 stands for the paper's 32x32; every map sees every map, where the paper left some "
        "out (341 k MACs); linear outputs in place of radial ones",
    ),
    Entry(
        network="alexnet",
        dataset=CIFAR10,
        build=alexnet_cifar10,
        source="bearpaw/pytorch-classification, models/cifar/alexnet.py: 2.47 M parameters",
        parameters=2_472_266,
        macs=14_957_056,
        batch=128,
        learning_rate=0.01,
        image_size=32,
        verify_size=32,
        steps=390,
    ),
    Entry(
        network="resnet50",
        dataset=CIFAR10,
        build=resnet50_cifar10,
        source="kuangliu/pytorch-cifar, models/resnet.py: ResNet50",
        parameters=23_520_842,
        macs=1_297_829_888,
        batch=128,
        learning_rate=0.1,
        image_size=32,
        verify_size=32,
        steps=390,
    ),
    Entry(
        network="googlenet",
        dataset=CIFAR10,
        build=googlenet_cifar10,
        source="kuangliu/pytorch-cifar, models/googlenet.py: GoogLeNet",
        parameters=6_166_250,
        macs=1_521_756_160,
        batch=128,
        learning_rate=0.1,
        image_size=32,
        verify_size=32,
        steps=390,
    ),
    Entry(
        network="vgg16",
        dataset=CIFAR10,
        build=vgg16_cifar10,
        source="chenyaofo/pytorch-cifar-models, vgg16_bn: 15.25 M parameters, 313.73 M MACs",
        parameters=15_253_578,
        macs=313_725_952,
        batch=128,
        learning_rate=0.01,
        image_size=32,
        verify_size=32,
        steps=390,
    ),
    Entry(
        network="alexnet",
        dataset=IMAGENET,
        build=alexnet,
        source="Krizhevsky et al. 2012, ImageNet classification with deep CNNs: 60 M parameters; 724 M MACs in Sze "
        "et al. 2017, Efficient processing of deep neural networks",
        parameters=60_965_224,
        macs=724_406_816,
        batch=128,
        learning_rate=0.01,
        image_size=227,
        verify_size=67,
        note="the paper says 224x224, its own arithmetic needs 227x227",
    ),
    Entry(
        network="resnet50",
        dataset=IMAGENET,
        build=resnet50,
        source="He et al. 2015, Deep residual learning; torchvision resnet50: 25,557,032 parameters, 4.09 GMACs",
        parameters=25_557_032,
        macs=4_089_184_256,
        batch=8,
        learning_rate=0.1,
        image_size=224,
        verify_size=64,
        note="v1.5: the stride is in the 3x3 convolution (v1 has it in the 1x1 before, 3.9 GMACs)",
    ),
    Entry(
        network="googlenet",
        dataset=IMAGENET,
        build=googlenet,
        source="Szegedy et al. 2014, Going deeper with convolutions, table 1: 1.5 GMACs; 7 M parameters in "
        "Sze et al. 2017, Efficient processing of deep neural networks",
        parameters=6_998_552,
        macs=1_582_671_872,
        batch=8,
        learning_rate=0.01,
        image_size=224,
        verify_size=64,
        note="learning rate 0.01, not the thesis's 0.1: without batch norm 0.1 diverges on one repeated batch",
    ),
    Entry(
        network="vgg16",
        dataset=IMAGENET,
        build=vgg16,
        source="Simonyan and Zisserman 2014, Very deep convolutional networks, configuration D: 138 M parameters; "
        "torchvision vgg16: 138,357,544 parameters, 15.47 GMACs",
        parameters=138_357_544,
        macs=15_470_264_320,
        batch=8,
        learning_rate=0.001,
        image_size=224,
        verify_size=32,
        note="learning rate 0.001, not the thesis's 0.01, at which one repeated batch of 8 can diverge",
    ),
    Entry(
        network="alexnet-owt",
        dataset=IMAGENET,
        build=alexnet_owt,
        source="Krizhevsky 2014, One weird trick; torchvision alexnet: 61,100,840 parameters, 0.71 GMACs",
        parameters=61_100_840,
        macs=714_188_480,
        batch=128,
        learning_rate=0.01,
        image_size=224,
        verify_size=64,
        note="what later libraries call AlexNet",
    ),
    Entry(
        network="googlenet-bn",
        dataset=IMAGENET,
        build=googlenet_bn,
        source="torchvision googlenet without auxiliary heads: 6,624,904 parameters, 1.50 GMACs",
        parameters=6_624_904,
        macs=1_498_376_192,
        batch=8,
        learning_rate=0.1,
        image_size=224,
        verify_size=128,
        note="what later libraries call GoogLeNet",
    ),
)
_ENTRIES = (*_IMAGES, *VECTOR_ENTRIES)
