"""Networks that make images as one would write them by hand over torch.nn, for bare_pytorch.py."""

import torch
from torch import nn
from torch.nn import functional

CODE = 100


class VAE(nn.Module):
    """As in pytorch/examples; computes its loss itself, so that torch.compile sees it whole."""

    def __init__(self, hidden=400, code=20) -> None:
        super().__init__()
        self.encoder = nn.Linear(784, hidden)
        self.mean = nn.Linear(hidden, code)
        self.log_variance = nn.Linear(hidden, code)
        self.decoder = nn.Linear(code, hidden)
        self.again = nn.Linear(hidden, 784)

    def forward(self, images):
        pixels = images.view(-1, 784)
        x = functional.relu(self.encoder(pixels))
        mean, log_variance = self.mean(x), self.log_variance(x)
        drawn = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
        again = self.again(functional.relu(self.decoder(drawn)))
        reconstruction = functional.binary_cross_entropy_with_logits(again, pixels, reduction="sum")
        divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
        return (reconstruction + divergence) / pixels.shape[0]


class RBM:
    """Contrastive divergence by outer products, without autograd, as it is usually written; what is watched is the
    error of what it makes."""

    def __init__(self, batch, device, hidden=500) -> None:
        self.weight = torch.randn(hidden, 784, device=device) * 0.01
        self.to_hidden = torch.zeros(hidden, device=device)
        self.to_visible = torch.zeros(784, device=device)
        self.parameters = [self.weight, self.to_hidden, self.to_visible]
        self.velocities = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.learning_rate, self.momentum = 0.05, 0.5

    def gradients(self, data):
        hidden = torch.sigmoid(functional.linear(data, self.weight, self.to_hidden))
        made = torch.sigmoid(torch.matmul(torch.bernoulli(hidden), self.weight) + self.to_visible)
        again = torch.sigmoid(functional.linear(made, self.weight, self.to_hidden))
        rows = data.shape[0]
        of_weight = (torch.matmul(again.t(), made) - torch.matmul(hidden.t(), data)) / rows
        error = (data - made).pow(2).sum()
        return error, (of_weight, (again - hidden).mean(0), (made - data).mean(0))

    def move(self, gradients):
        for parameter, velocity, gradient in zip(self.parameters, self.velocities, gradients):  # noqa: B905 (3.6)
            velocity.mul_(self.momentum).add_(gradient)
            parameter.sub_(velocity * self.learning_rate)


def generator(side, channels, width=64):
    """Doubles a side of 4 or 7 until it is `side`."""
    levels = _levels(side)
    sizes = [width << level for level in range(levels)][::-1]
    layers = [nn.ConvTranspose2d(CODE, sizes[0], side >> levels, bias=False), nn.BatchNorm2d(sizes[0]), nn.ReLU(True)]
    for level in range(1, levels):
        before, after = sizes[level - 1], sizes[level]
        layers += [nn.ConvTranspose2d(before, after, 4, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(True)]
    return nn.Sequential(*layers, nn.ConvTranspose2d(sizes[-1], channels, 4, 2, 1, bias=False), nn.Tanh())


def discriminator(side, channels, width=64):
    """The reverse: one number an image, of shape (1, 1, 1)."""
    levels = _levels(side)
    sizes = [width << level for level in range(levels)]
    layers = [nn.Conv2d(channels, sizes[0], 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True)]
    for level in range(1, levels):
        before, after = sizes[level - 1], sizes[level]
        layers += [
            nn.Conv2d(before, after, 4, 2, 1, bias=False),
            nn.BatchNorm2d(after),
            nn.LeakyReLU(0.2, inplace=True),
        ]
    return nn.Sequential(*layers, nn.Conv2d(sizes[-1], 1, side >> levels, bias=False))


def _levels(side):
    levels = 0
    while side % 2 == 0 and side > 4:
        side, levels = side // 2, levels + 1
    return levels
