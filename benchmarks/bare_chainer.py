"""How fast is Chainer without any harness? Hand-written loops over chainer.links, to hold the adapter against.

    echo 100 | python benchmarks/bare_chainer.py --network lenet --dataset mnist --batch 64

prints the seconds that a hundred steps took; see blocks.py.
"""

import chainer
import numpy as np
from blocks import read_options, serve
from chainer import functions, links
from chainer.backends import cuda

# How long a tanh takes depends on its argument, so the range of the weights matters for speed too.
GLOROT = chainer.initializers.GlorotUniform()


class LeNet(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = links.Convolution2D(1, 6, 5, pad=2, initialW=GLOROT)
            self.conv2 = links.Convolution2D(6, 16, 5, initialW=GLOROT)
            self.fc1 = links.Linear(400, 120, initialW=GLOROT)
            self.fc2 = links.Linear(120, 84, initialW=GLOROT)
            self.fc3 = links.Linear(84, 10, initialW=GLOROT)

    def forward(self, x):
        x = functions.average_pooling_2d(functions.tanh(self.conv1(x)), 2)
        x = functions.average_pooling_2d(functions.tanh(self.conv2(x)), 2)
        x = functions.tanh(self.fc1(x))
        return self.fc3(functions.tanh(self.fc2(x)))


class AlexNetSmall(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = links.Convolution2D(3, 64, 11, stride=4, pad=5, initialW=GLOROT)
            self.conv2 = links.Convolution2D(64, 192, 5, pad=2, initialW=GLOROT)
            self.conv3 = links.Convolution2D(192, 384, 3, pad=1, initialW=GLOROT)
            self.conv4 = links.Convolution2D(384, 256, 3, pad=1, initialW=GLOROT)
            self.conv5 = links.Convolution2D(256, 256, 3, pad=1, initialW=GLOROT)
            self.classifier = links.Linear(256, 10, initialW=GLOROT)

    def forward(self, x):
        x = functions.max_pooling_2d(functions.relu(self.conv1(x)), 2)
        x = functions.max_pooling_2d(functions.relu(self.conv2(x)), 2)
        x = functions.relu(self.conv3(x))
        x = functions.relu(self.conv4(x))
        x = functions.max_pooling_2d(functions.relu(self.conv5(x)), 2)
        return self.classifier(x)


# (network, dataset): its chain, parameter count, image shape
CASES = {
    ("lenet", "mnist"): (LeNet, 61_706, (1, 28, 28)),
    ("alexnet", "cifar10"): (AlexNetSmall, 2_472_266, (3, 32, 32)),
}


def training_step(options):
    """A function that makes one step on a batch that stays on the device."""
    make, count, shape = CASES[options.network, options.dataset]
    chainer.global_config.use_ideep = "auto"
    chainer.global_config.type_check = False
    chainer.global_config.autotune = True
    device = chainer.get_device("@cupy:0" if options.device == "cuda" else "@intel64")
    device.use()
    model = make()
    assert model.count_params() == count, model.count_params()
    model.to_device(device)
    draw = np.random.RandomState(0)
    images = device.send(draw.normal(size=(options.batch, *shape)).astype(np.float32))
    labels = device.send(draw.randint(10, size=options.batch).astype(np.int32))
    optimizer = chainer.optimizers.MomentumSGD(lr=0.01, momentum=0.9)
    optimizer.setup(model)

    def loss(x, t):
        return functions.softmax_cross_entropy(model(x), t)

    return lambda: optimizer.update(loss, images, labels)


def main():
    options = read_options(CASES)
    wait = cuda.Stream.null.synchronize if options.device == "cuda" else lambda: None
    serve(training_step(options), wait)


if __name__ == "__main__":
    main()
