"""Which networks take vectors: the fully connected ones of DLBENCH, and an instrument that is only products."""

from netdyno.zoo.datasets import VECTORS512, VECTORS1024, VECTORS4096, VECTORS26752
from netdyno.zoo.entry import INSTRUMENT, VECTORS, Entry
from netdyno.zoo.fcn import fcn5, fcn8
from netdyno.zoo.matmul import matmul

# No counts are published for these: with w = 2048 and h hidden layers, an input of n and c classes there are
# nw + (h - 1)w² + wc MACs, and hw + c biases beside as many weights. The instrument has 8w² + 16w, and 16 biases.
_COUNTED = "counted by hand from the layers"
_DLBENCH = "Shi et al. 2016, Benchmarking state-of-the-art deep learning software tools; hclhkbu/dlbench, "

VECTOR_ENTRIES = (
    Entry(
        network="fcn5",
        dataset=VECTORS26752,
        build=fcn5,
        source=_DLBENCH + "synthetic/experiments/caffe/fc/ffn26752.prototxt",
        parameters=117_997_696,
        macs=117_964_800,
        batch=64,
        learning_rate=0.01,
        image_size=1,
        verify_size=1,
        verify_width=256,
        family=VECTORS,
        note=_COUNTED,
    ),
    Entry(
        network="fcn8",
        dataset=VECTORS26752,
        build=fcn8,
        source=_DLBENCH + "synthetic/experiments/caffe/fc/ffn26752l6.prototxt",
        parameters=130_586_752,
        macs=130_547_712,
        batch=64,
        learning_rate=0.01,
        image_size=1,
        verify_size=1,
        verify_width=256,
        family=VECTORS,
        note=_COUNTED,
    ),
    Entry(
        network="fcn5-small",
        dataset=VECTORS512,
        build=fcn5,
        source=_DLBENCH + "synthetic/experiments/caffe/fc/ffn.prototxt",
        parameters=11_492_328,
        macs=11_485_184,
        batch=64,
        learning_rate=0.01,
        image_size=1,
        verify_size=1,
        family=VECTORS,
        note=_COUNTED,
    ),
    Entry(
        network="matmul",
        dataset=VECTORS4096,
        build=matmul,
        source="netdyno's own, to measure the peak of a GPU: eight products of 4096 x 4096",
        parameters=134_283_280,
        macs=134_283_264,
        batch=16384,
        learning_rate=0.001,
        image_size=1,
        verify_size=1,
        verify_width=64,
        family=INSTRUMENT,
        note=_COUNTED,
    ),
    Entry(
        network="matmul",
        dataset=VECTORS1024,
        build=matmul,
        source="netdyno's own, to measure the peak of a CPU: eight products of 1024 x 1024",
        parameters=8_405_008,
        macs=8_404_992,
        batch=1024,
        learning_rate=0.001,
        image_size=1,
        verify_size=1,
        verify_width=64,
        family=INSTRUMENT,
        note=_COUNTED,
    ),
)
