"""How fast is MXNet without any harness? Hand-written loops over its own layers, to hold the adapter against.

    echo 100 | python benchmarks/bare_mxnet.py --network lenet --dataset mnist --batch 64

prints the seconds that a hundred steps took; see blocks.py. The loop is the faster one of each version: a Module
before 1.3, later a hybridized Gluon network with a Trainer.
"""

import mxnet as mx
import numpy as np
from blocks import read_options, serve
from mxnet import autograd, gluon
from mxnet.gluon import nn

OPTIMIZER = {"learning_rate": 0.01, "momentum": 0.9}


def lenet(classes):
    return [
        *(nn.Conv2D(6, 5, padding=2, activation="tanh"), nn.AvgPool2D(2)),
        *(nn.Conv2D(16, 5, activation="tanh"), nn.AvgPool2D(2)),
        *(nn.Dense(120, activation="tanh"), nn.Dense(84, activation="tanh"), nn.Dense(classes)),
    ]


def alexnet(classes):
    return [
        *(nn.Conv2D(64, 11, 4, 5, activation="relu"), nn.MaxPool2D(2)),
        *(nn.Conv2D(192, 5, padding=2, activation="relu"), nn.MaxPool2D(2)),
        nn.Conv2D(384, 3, padding=1, activation="relu"),
        nn.Conv2D(256, 3, padding=1, activation="relu"),
        *(nn.Conv2D(256, 3, padding=1, activation="relu"), nn.MaxPool2D(2)),
        nn.Dense(classes),
    ]


# layers, image side, channels, classes, parameters
CASES = {
    ("lenet", "mnist"): (lenet, 28, 1, 10, 61_706),
    ("alexnet", "cifar10"): (alexnet, 32, 3, 10, 2_472_266),
}


def network(layers):
    net = nn.HybridSequential()
    with net.name_scope():
        for layer in layers:
            net.add(layer)
    return net


def gluon_step(net, images, labels, context):
    net.initialize(mx.init.Xavier(), ctx=context)
    net.hybridize(static_alloc=True, static_shape=True)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    loss.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), "sgd", OPTIMIZER)

    def step() -> None:
        with autograd.record():
            value = loss(net(images), labels)
        value.backward()
        trainer.step(images.shape[0])

    step()
    return step, [parameter.data() for parameter in net.collect_params().values()]


def module_step(net, images, labels, context):
    output = mx.sym.SoftmaxOutput(net(mx.sym.Variable("data")), name="softmax")
    module = mx.mod.Module(output, context=context)
    module.bind([("data", images.shape)], [("softmax_label", labels.shape)])
    module.init_params(mx.init.Xavier())
    module.init_optimizer(optimizer="sgd", optimizer_params=OPTIMIZER)
    batch = mx.io.DataBatch([images], [labels])

    def step() -> None:
        module.forward_backward(batch)
        module.update()

    return step, list(module.get_params()[0].values())


def training_step(options):
    layers, side, channels, classes, expected = CASES[options.network, options.dataset]
    context = mx.gpu(0) if options.device == "cuda" else mx.cpu()
    draw = np.random.RandomState(1)
    images = mx.nd.array(draw.uniform(0, 1, (options.batch, channels, side, side)), ctx=context, dtype="float32")
    labels = mx.nd.array(draw.randint(0, classes, options.batch), ctx=context, dtype="float32")
    version = tuple(int(part) for part in mx.__version__.split(".")[:2])
    make = module_step if version < (1, 3) else gluon_step
    step, parameters = make(network(layers(classes)), images, labels, context)
    count = sum(array.size for array in parameters)
    assert count == expected, (count, expected)
    return step


def main() -> None:
    serve(training_step(read_options(CASES)), mx.nd.waitall)


if __name__ == "__main__":
    main()
