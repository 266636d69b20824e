"""How fast is Caffe without any harness? Hand-written prototxt and solver.step, to hold the adapter against.

    echo 100 | PYTHONPATH=/path/to/caffe/python python benchmarks/bare_caffe.py --network lenet --dataset mnist

prints the seconds that a hundred steps took; see blocks.py.
"""

import os
import tempfile

import numpy as np
from blocks import read_options, serve

os.environ.setdefault("GLOG_minloglevel", "2")

import caffe  # reads the variable while it is imported

INPUTS = """
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: %d dim: %d dim: %d dim: %d } } }
layer { name: "label" type: "Input" top: "label" input_param { shape { dim: %d } } }
"""
CONVOLUTION = """
layer { name: "%s" type: "Convolution" bottom: "%s" top: "%s"
  convolution_param { num_output: %d kernel_size: %d stride: %d pad: %d weight_filler { type: "xavier" } } }
"""
LINEAR = """
layer { name: "%s" type: "InnerProduct" bottom: "%s" top: "%s"
  inner_product_param { num_output: %d weight_filler { type: "xavier" } } }
"""
POOL = """
layer { name: "%s" type: "Pooling" bottom: "%s" top: "%s" pooling_param { pool: %s kernel_size: 2 stride: 2 } }
"""
IN_PLACE = """
layer { name: "%s" type: "%s" bottom: "%s" top: "%s" }
"""
LOSS = """
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "%s" bottom: "label" top: "loss" }
"""


def convolution(name, bottom, channels, kernel, activation, stride=1, pad=0):
    layer = CONVOLUTION % (name, bottom, name, channels, kernel, stride, pad)
    return layer + IN_PLACE % (name + "_act", activation, name, name)


def linear(name, bottom, features, activation=None):
    layer = LINEAR % (name, bottom, name, features)
    return layer + IN_PLACE % (name + "_act", activation, name, name) if activation else layer


def pool(name, bottom, kind):
    return POOL % (name, bottom, name, kind)


LENET = (
    convolution("conv1", "data", 6, 5, "TanH", pad=2)
    + pool("pool1", "conv1", "AVE")
    + convolution("conv2", "pool1", 16, 5, "TanH")
    + pool("pool2", "conv2", "AVE")
    + linear("fc3", "pool2", 120, "TanH")
    + linear("fc4", "fc3", 84, "TanH")
    + linear("fc5", "fc4", 10)
    + LOSS % "fc5"
)
ALEXNET = (
    convolution("conv1", "data", 64, 11, "ReLU", stride=4, pad=5)
    + pool("pool1", "conv1", "MAX")
    + convolution("conv2", "pool1", 192, 5, "ReLU", pad=2)
    + pool("pool2", "conv2", "MAX")
    + convolution("conv3", "pool2", 384, 3, "ReLU", pad=1)
    + convolution("conv4", "conv3", 256, 3, "ReLU", pad=1)
    + convolution("conv5", "conv4", 256, 3, "ReLU", pad=1)
    + pool("pool5", "conv5", "MAX")
    + linear("fc6", "pool5", 10)
    + LOSS % "fc6"
)
SOLVER = 'train_net: "%s"\nbase_lr: 0.01\nlr_policy: "fixed"\nmomentum: 0.9\n'

# (network, dataset): its layers, parameter count, image shape, classes
CASES = {
    ("lenet", "mnist"): (LENET, 61_706, (1, 28, 28), 10),
    ("alexnet", "cifar10"): (ALEXNET, 2_472_266, (3, 32, 32), 10),
}


def make_solver(options):
    """A solver whose inputs are filled; they stay where Caffe puts them."""
    layers, count, shape, classes = CASES[options.network, options.dataset]
    prepare(options)
    with tempfile.TemporaryDirectory() as folder:
        net, solver = os.path.join(folder, "net.prototxt"), os.path.join(folder, "solver.prototxt")
        with open(net, "w") as file:
            file.write(INPUTS % (options.batch, *shape, options.batch) + layers)
        with open(solver, "w") as file:
            file.write(SOLVER % net)
        made = caffe.SGDSolver(solver)
    parameters = sum(blob.count for blobs in made.net.params.values() for blob in blobs)
    assert parameters == count, f"expected {count} parameters, received {parameters}"
    draw = np.random.RandomState(1)
    made.net.blobs["data"].data[...] = draw.standard_normal((options.batch, *shape))
    made.net.blobs["label"].data[...] = draw.randint(0, classes, options.batch)
    return made


def prepare(options) -> None:
    if options.device == "cuda":
        caffe.set_device(0)
        caffe.set_mode_gpu()
    else:
        caffe.set_mode_cpu()


def main() -> None:
    solver = make_solver(read_options(CASES))
    smallest = min((blob for blobs in solver.net.params.values() for blob in blobs), key=lambda blob: blob.count)
    serve(lambda: solver.step(1), lambda: smallest.data[...])


if __name__ == "__main__":
    main()
