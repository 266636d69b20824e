"""How fast is Paddle without any harness? Hand-written training loops over paddle.nn, to hold the adapter against.

    echo 100 | python benchmarks/bare_paddle.py --network lenet --dataset mnist --batch 64

prints the seconds that a hundred steps took; see blocks.py.
"""

import paddle
from blocks import read_options, serve
from paddle import nn
from paddle.nn import functional


class LeNet(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2D(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2D(6, 16, 5)
        self.pool = nn.AvgPool2D(2)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = self.pool(paddle.tanh(self.conv1(x)))
        x = self.pool(paddle.tanh(self.conv2(x)))
        x = paddle.tanh(self.fc1(paddle.flatten(x, 1)))
        return self.fc3(paddle.tanh(self.fc2(x)))


class AlexNetSmall(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *(nn.Conv2D(3, 64, 11, stride=4, padding=5), nn.ReLU(), nn.MaxPool2D(2)),
            *(nn.Conv2D(64, 192, 5, padding=2), nn.ReLU(), nn.MaxPool2D(2)),
            *(nn.Conv2D(192, 384, 3, padding=1), nn.ReLU()),
            *(nn.Conv2D(384, 256, 3, padding=1), nn.ReLU()),
            *(nn.Conv2D(256, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2)),
        )
        self.classifier = nn.Linear(256, 10)

    def forward(self, x):
        return self.classifier(paddle.flatten(self.features(x), 1))


# (network, dataset): its layer, parameter count, image shape, classes, learning rate
CASES = {
    ("lenet", "mnist"): (LeNet, 61_706, (1, 28, 28), 10, 0.01),
    ("alexnet", "cifar10"): (AlexNetSmall, 2_472_266, (3, 32, 32), 10, 0.01),
}


def training_step(options):
    """A function that makes one step on a batch that stays on the device."""
    make, count, shape, classes, learning_rate = CASES[options.network, options.dataset]
    prepare(options)
    model = make()
    parameters = sum(int(parameter.size) for parameter in model.parameters())
    assert parameters == count, f"expected {count} parameters, received {parameters}"
    images = paddle.randn((options.batch, *shape))
    labels = paddle.randint(0, classes, (options.batch,))
    optimizer = paddle.optimizer.Momentum(learning_rate, 0.9, model.parameters())
    forward = paddle.jit.to_static(model, full_graph=True) if options.execution == "compiled" else model

    def step() -> None:
        loss = functional.cross_entropy(forward(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad(set_to_zero=False)

    return step


def prepare(options) -> None:
    paddle.set_device("gpu:0" if options.device == "cuda" else "cpu")
    paddle.base.core.set_num_threads(options.threads)


def main() -> None:
    options = read_options(CASES)
    wait = paddle.device.synchronize if options.device == "cuda" else lambda: None
    serve(training_step(options), wait)


if __name__ == "__main__":
    main()
