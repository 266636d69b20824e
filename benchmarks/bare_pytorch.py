"""How fast is PyTorch without any harness? Hand-written training loops over torch.nn, to hold the adapter against.

    echo 100 | python benchmarks/bare_pytorch.py --network lenet --dataset mnist --batch 64

prints the seconds that a hundred steps took; see blocks.py.
"""

import contextlib

import torch
from blocks import read_options, serve
from torch import nn
from torch.nn import functional

MODERN = hasattr(torch, "channels_last")  # the file also runs in torch 1.0 and Python 3.6
nullcontext = getattr(contextlib, "nullcontext", contextlib.ExitStack)


class LeNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.pool = nn.AvgPool2d(2)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = self.pool(torch.tanh(self.conv1(x)))
        x = self.pool(torch.tanh(self.conv2(x)))
        x = torch.tanh(self.fc1(torch.flatten(x, 1)))
        return self.fc3(torch.tanh(self.fc2(x)))


class AlexNetSmall(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *(nn.Conv2d(3, 64, 11, stride=4, padding=5), nn.ReLU(inplace=True), nn.MaxPool2d(2)),
            *(nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(2)),
            *(nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(inplace=True)),
            *(nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(inplace=True)),
            *(nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2)),
        )
        self.classifier = nn.Linear(256, 10)

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


class ConvReLU(nn.Sequential):
    def __init__(self, inputs, outputs, kernel, stride=1) -> None:
        convolution = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2)
        super().__init__(convolution, nn.ReLU(inplace=True))


class Inception(nn.Module):
    def __init__(self, inputs, columns) -> None:
        super().__init__()
        one, reduce3, three, reduce5, five, projection = columns
        self.branch1 = ConvReLU(inputs, one, 1)
        self.branch3 = nn.Sequential(ConvReLU(inputs, reduce3, 1), ConvReLU(reduce3, three, 3))
        self.branch5 = nn.Sequential(ConvReLU(inputs, reduce5, 1), ConvReLU(reduce5, five, 5))
        self.branch_pool = nn.Sequential(nn.MaxPool2d(3, 1, padding=1), ConvReLU(inputs, projection, 1))

    def forward(self, x):
        return torch.cat([self.branch1(x), self.branch3(x), self.branch5(x), self.branch_pool(x)], 1)


class GoogLeNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *(ConvReLU(3, 64, 7, stride=2), nn.MaxPool2d(3, 2, ceil_mode=True)),
            nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75, k=1.0),
            *(ConvReLU(64, 64, 1), ConvReLU(64, 192, 3)),
            nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75, k=1.0),
            nn.MaxPool2d(3, 2, ceil_mode=True),
            Inception(192, (64, 96, 128, 16, 32, 32)),
            Inception(256, (128, 128, 192, 32, 96, 64)),
            nn.MaxPool2d(3, 2, ceil_mode=True),
            Inception(480, (192, 96, 208, 16, 48, 64)),
            Inception(512, (160, 112, 224, 24, 64, 64)),
            Inception(512, (128, 128, 256, 24, 64, 64)),
            Inception(512, (112, 144, 288, 32, 64, 64)),
            Inception(528, (256, 160, 320, 32, 128, 128)),
            nn.MaxPool2d(3, 2, ceil_mode=True),
            Inception(832, (256, 160, 320, 32, 128, 128)),
            Inception(832, (384, 192, 384, 48, 128, 128)),
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.dropout = nn.Dropout(0.4)
        self.classifier = nn.Linear(1024, 1000)

    def forward(self, x):
        return self.classifier(self.dropout(torch.flatten(self.pool(self.features(x)), 1)))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride) -> None:
        super().__init__()
        outputs = 4 * width
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            projection = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.shortcut = nn.Sequential(projection, nn.BatchNorm2d(outputs))

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += x if self.shortcut is None else self.shortcut(x)
        return self.relu(out)


class ResNet50(nn.Module):
    """Version 1.5: the stride is in the 3×3 convolution. `small` images get a 3×3 stem and no pool."""

    def __init__(self, classes, small) -> None:
        super().__init__()
        kernel, stride = (3, 1) if small else (7, 2)
        stem = nn.Conv2d(3, 64, kernel, stride, padding=kernel // 2, bias=False)
        layers = [stem, nn.BatchNorm2d(64), nn.ReLU(inplace=True)]
        if not small:
            layers.append(nn.MaxPool2d(3, 2, padding=1))
        inputs = 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for number in range(count):
                layers.append(Bottleneck(inputs, width, stride if number == 0 else 1))
                inputs = 4 * width
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(2048, classes)

    def forward(self, x):
        return self.classifier(torch.flatten(self.pool(self.features(x)), 1))


# (network, dataset): its module, parameter count, image shape, classes, learning rate
CASES = {
    ("lenet", "mnist"): (LeNet, 61_706, (1, 28, 28), 10, 0.01),
    ("alexnet", "cifar10"): (AlexNetSmall, 2_472_266, (3, 32, 32), 10, 0.01),
    ("resnet50", "cifar10"): (lambda: ResNet50(10, small=True), 23_520_842, (3, 32, 32), 10, 0.1),
    ("resnet50", "imagenet"): (lambda: ResNet50(1000, small=False), 25_557_032, (3, 224, 224), 1000, 0.1),
    ("googlenet", "imagenet"): (GoogLeNet, 6_998_552, (3, 224, 224), 1000, 0.01),
}


def training_step(options):
    """A function that makes one step on a batch that stays on the device."""
    make, count, shape, classes, learning_rate = CASES[options.network, options.dataset]
    prepare(options)
    layout = {"memory_format": memory_layout(options)} if MODERN else {}
    model = make().to(device=options.device, **layout).train()
    parameters = sum(parameter.numel() for parameter in model.parameters())
    assert parameters == count, f"expected {count} parameters, received {parameters}"
    images = torch.randn(options.batch, *shape, device=options.device).to(torch.float32, **layout)
    labels = torch.randint(classes, (options.batch,), device=options.device)
    fused = {"fused": True} if MODERN else {}
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9, **fused)
    forget = {"set_to_none": True} if MODERN else {}
    forward = torch.compile(model) if options.execution == "compiled" else model

    def step() -> None:
        optimizer.zero_grad(**forget)
        with narrowed(options):
            loss = functional.cross_entropy(forward(images), labels)
        loss.backward()
        optimizer.step()

    return step


def prepare(options) -> None:
    """The library's switches for this precision and machine."""
    torch.set_num_threads(options.threads)
    torch.backends.cudnn.benchmark = True
    if MODERN:
        torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"
        torch.backends.cudnn.allow_tf32 = options.precision == "tf32"


def memory_layout(options):
    if options.device == "cuda" and options.precision == "float32":
        return torch.contiguous_format
    return torch.channels_last


def narrowed(options):
    if options.precision == "bfloat16":
        return torch.autocast(options.device, dtype=torch.bfloat16)
    return nullcontext()


def main() -> None:
    options = read_options(CASES)
    wait = torch.cuda.synchronize if options.device == "cuda" else lambda: None
    serve(training_step(options), wait)


if __name__ == "__main__":
    main()
