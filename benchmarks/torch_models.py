"""The nine networks as one would write them by hand over torch.nn, for bare_pytorch.py."""

import torch
from torch import nn


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


class AlexNet(nn.Module):
    """As published in 2012: two columns, response normalisation, overlapping pools."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *(nn.Conv2d(3, 96, 11, stride=4), nn.ReLU(inplace=True)),
            *(nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75, k=2.0), nn.MaxPool2d(3, 2)),
            *(nn.Conv2d(96, 256, 5, padding=2, groups=2), nn.ReLU(inplace=True)),
            *(nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75, k=2.0), nn.MaxPool2d(3, 2)),
            *(nn.Conv2d(256, 384, 3, padding=1), nn.ReLU(inplace=True)),
            *(nn.Conv2d(384, 384, 3, padding=1, groups=2), nn.ReLU(inplace=True)),
            *(nn.Conv2d(384, 256, 3, padding=1, groups=2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2)),
        )
        self.classifier = nn.Sequential(*widening(9216, 4096), nn.Linear(4096, 1000))

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


def widening(inputs, width):
    """The two hidden linear layers of AlexNet and VGG."""
    first = (nn.Linear(inputs, width), nn.ReLU(inplace=True), nn.Dropout())
    return (*first, nn.Linear(width, width), nn.ReLU(inplace=True), nn.Dropout())


class VGG16(nn.Module):
    """Configuration D; `small` images get batch normalisation and a narrow classifier."""

    def __init__(self, classes, small) -> None:
        super().__init__()
        layers, inputs = [], 3
        for count, outputs in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
            for _ in range(count):
                layers.append(nn.Conv2d(inputs, outputs, 3, padding=1))
                layers += [nn.BatchNorm2d(outputs)] if small else []
                layers.append(nn.ReLU(inplace=True))
                inputs = outputs
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers)
        width, pixels = (512, 1) if small else (4096, 49)
        self.classifier = nn.Sequential(*widening(512 * pixels, width), nn.Linear(width, classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


class ConvReLU(nn.Sequential):
    def __init__(self, inputs, outputs, kernel, stride=1, normalise=False) -> None:
        layers = [nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2)]
        layers += [nn.BatchNorm2d(outputs)] if normalise else []
        super().__init__(*layers, nn.ReLU(inplace=True))


class Inception(nn.Module):
    """`small` images get batch normalisation, and two 3×3 convolutions for the 5×5."""

    def __init__(self, inputs, columns, small=False) -> None:
        super().__init__()
        one, reduce3, three, reduce5, five, projection = columns
        wide = [(reduce5, five, 3), (five, five, 3)] if small else [(reduce5, five, 5)]
        self.branch1 = ConvReLU(inputs, one, 1, 1, small)
        self.branch3 = nn.Sequential(ConvReLU(inputs, reduce3, 1, 1, small), ConvReLU(reduce3, three, 3, 1, small))
        self.branch5 = nn.Sequential(
            ConvReLU(inputs, reduce5, 1, 1, small), *(ConvReLU(*layer, 1, small) for layer in wide)
        )
        self.branch_pool = nn.Sequential(nn.MaxPool2d(3, 1, padding=1), ConvReLU(inputs, projection, 1, 1, small))

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


class SmallGoogLeNet(nn.Module):
    """For 32×32 images."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            ConvReLU(3, 192, 3, 1, True),
            Inception(192, (64, 96, 128, 16, 32, 32), True),
            Inception(256, (128, 128, 192, 32, 96, 64), True),
            nn.MaxPool2d(3, 2, padding=1),
            Inception(480, (192, 96, 208, 16, 48, 64), True),
            Inception(512, (160, 112, 224, 24, 64, 64), True),
            Inception(512, (128, 128, 256, 24, 64, 64), True),
            Inception(512, (112, 144, 288, 32, 64, 64), True),
            Inception(528, (256, 160, 320, 32, 128, 128), True),
            nn.MaxPool2d(3, 2, padding=1),
            Inception(832, (256, 160, 320, 32, 128, 128), True),
            Inception(832, (384, 192, 384, 48, 128, 128), True),
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(1024, 10)

    def forward(self, x):
        return self.classifier(torch.flatten(self.pool(self.features(x)), 1))


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
