"""The networks written from papers are those of the papers: as many parameters, and multiply-accumulates."""

from pathlib import Path

import pytest

from netdyno.zoo.custom import load_network
from netdyno.zoo.items import find_items

PAPERS = Path(__file__).parents[2] / "docs" / "examples" / "papers"
# Parameters as the authors or torchvision count them; millions of MACs as the papers print them, where they do.
COUNTED = {
    ("mobilenet_v2.py:mobilenet_v2", "imagenet"): (3_504_872, 300),
    ("mobilenet_v2.py:mobilenet_v2_cifar10", "cifar10"): (2_236_682, None),
    ("densenet.py:densenet", "cifar10"): (1_019_722, None),
    ("densenet.py:densenet_bc", "cifar10"): (769_162, None),
    ("densenet.py:densenet121", "imagenet"): (7_978_856, None),
    ("resnet101.py:resnet101", "imagenet"): (44_549_160, 7_600),  # 7.8 G with the stride in the 3×3 convolution
    ("resnext50.py:resnext50", "imagenet"): (25_028_904, 4_200),
    ("squeezenet.py:squeezenet", "imagenet"): (1_248_424, None),
    ("wide_resnet.py:wide_resnet_16_4", "cifar10"): (2_748_890, None),
    ("wide_resnet.py:wide_resnet_28_10", "cifar10"): (36_479_194, 5_200),
}


@pytest.mark.parametrize(("network", "dataset"), COUNTED)
def test_a_network_from_a_paper_has_the_size_that_is_published(network, dataset):
    entry = load_network(f"{PAPERS}/{network}", find_items(dataset))
    parameters, million_macs = COUNTED[network, dataset]
    assert entry.parameters == parameters
    assert million_macs is None or entry.macs / 1e6 == pytest.approx(million_macs, rel=0.03)


def test_every_network_from_a_paper_is_counted():
    written = {
        f"{file.name}:{line[4:].split('(')[0]}"
        for file in PAPERS.glob("*.py")
        for line in file.read_text().splitlines()
        if line.startswith("def ") and not line.startswith("def _")
    }
    assert written == {network for network, _ in COUNTED}
