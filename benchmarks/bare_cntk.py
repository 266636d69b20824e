"""How fast is CNTK without any harness? Hand-written training loops over cntk.layers, to hold the adapter against.

    echo 100 | python benchmarks/bare_cntk.py --network lenet --dataset mnist --batch 64

prints the seconds that a hundred steps took; see blocks.py. Written for Python 3.6, the last that has CNTK.
"""

import os

import cntk
import numpy as np
from blocks import read_options, serve
from cntk.layers import AveragePooling, Convolution2D, Dense, MaxPooling, Sequential

LEARNING_RATE = 0.01
MOMENTUM = 0.9


def lenet(classes):
    return Sequential(
        [
            Convolution2D((5, 5), 6, activation=cntk.tanh, pad=True),
            AveragePooling((2, 2), strides=2),
            Convolution2D((5, 5), 16, activation=cntk.tanh),
            AveragePooling((2, 2), strides=2),
            Dense(120, activation=cntk.tanh),
            Dense(84, activation=cntk.tanh),
            Dense(classes),
        ]
    )


def alexnet(classes):
    """CNTK's own padding would move the first windows, and refuses kernels larger than the image they pad."""
    return Sequential(
        [
            padded(5),
            Convolution2D((11, 11), 64, strides=4, activation=cntk.relu),
            MaxPooling((2, 2), strides=2),
            padded(2),
            Convolution2D((5, 5), 192, activation=cntk.relu),
            MaxPooling((2, 2), strides=2),
            padded(1),
            Convolution2D((3, 3), 384, activation=cntk.relu),
            padded(1),
            Convolution2D((3, 3), 256, activation=cntk.relu),
            padded(1),
            Convolution2D((3, 3), 256, activation=cntk.relu),
            MaxPooling((2, 2), strides=2),
            Dense(classes),
        ]
    )


def padded(width):
    return lambda x: cntk.pad(x, [(0, 0), (width, width), (width, width)])


# (network, dataset): its layers, image shape, classes, parameters
CASES = {
    ("lenet", "mnist"): (lenet, (1, 28, 28), 10, 61706),
    ("alexnet", "cifar10"): (alexnet, (3, 32, 32), 10, 2472266),
}


def training_step(options):
    network, shape, classes, parameters = CASES[options.network, options.dataset]
    images, labels = cntk.input_variable(shape), cntk.input_variable(classes)
    model = network(classes)(images)
    count = sum(np.prod(parameter.shape) for parameter in model.parameters)
    assert count == parameters, (count, parameters)
    loss = cntk.cross_entropy_with_softmax(model, labels)
    learner = cntk.momentum_sgd(model.parameters, LEARNING_RATE, MOMENTUM, unit_gain=False)
    trainer = cntk.Trainer(model, loss, [learner])
    draw = np.random.RandomState(1)
    pixels = draw.normal(0, 1, (options.batch, *shape)).astype(np.float32)
    one_hot = np.eye(classes, dtype=np.float32)[draw.randint(0, classes, options.batch)]
    # Placed once: CNTK takes arrays too, and then copies them in every step.
    batch = {images: cntk.Value(batch=pixels), labels: cntk.Value(batch=one_hot)}

    def step():
        trainer.train_minibatch(batch)

    return step, lambda: trainer.previous_minibatch_loss_average


def prepare(options):
    usable = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, usable[-options.threads :])
    cntk.device.try_set_default_device(cntk.device.gpu(0) if options.device == "cuda" else cntk.device.cpu())
    cntk.cntk_py.set_max_num_cputhreads(options.threads)


def main():
    options = read_options(CASES)
    prepare(options)
    serve(*training_step(options))


if __name__ == "__main__":
    main()
