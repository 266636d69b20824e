"""Training steps in PyTorch of networks that are not classifiers of images by momentum, for bare_pytorch.py."""

from functools import partial

import torch
from blocks import check_parameters
from torch.nn import functional
from torch_generative import CODE, RBM, VAE, discriminator, generator
from torch_sequences import BERT, GPT2, TextLSTM, ViT

MODERN = hasattr(torch, "channels_last")  # the file also runs in torch 1.0 and Python 3.6
FORGET = {"set_to_none": True} if MODERN else {}


def adam_step(make, batch_of, tools, *, learning_rate=0.001, betas=(0.9, 0.999)):
    """A step by Adam on a module that gives its loss."""
    model = make(**tools.options.set).to(device=tools.options.device, **tools.layout).train()
    check_parameters(counted(model.parameters()), tools.expected)
    values = batch_of(tools, **tools.options.set)
    optimizer = adam(model, tools, lr=learning_rate, betas=betas)
    forward = tools.compiled(model)

    def step() -> None:
        optimizer.zero_grad(**FORGET)
        with tools.narrowed():
            loss = forward(*values)
        loss.backward()
        optimizer.step()

    return step


def rbm_step(tools):
    machine = RBM(tools.options.batch, tools.options.device, **tools.options.set)
    check_parameters(counted(machine.parameters), tools.expected)
    data = torch.rand(tools.options.batch, 784, device=tools.options.device)
    gradients = tools.compiled(machine.gradients)

    def step() -> None:
        with torch.no_grad():
            with tools.narrowed():
                _, found = gradients(data)
            machine.move(found)

    return step


def dcgan_step(side, channels, tools):
    """The loop of pytorch/examples: the discriminator on real and on made images, then the generator."""
    device, rows, width = tools.options.device, tools.options.batch, tools.options.set.get("width", 1.0)
    makes = (make(side, channels, round(64 * width)) for make in (generator, discriminator))
    networks = [make.to(device=device, **tools.layout).train() for make in makes]
    networks[0][0].to(memory_format=torch.contiguous_format)  # of an image of one pixel: compiled, the other fails
    check_parameters(sum(counted(network.parameters()) for network in networks), tools.expected)
    make, judge = (tools.compiled(network) for network in networks)
    optimizers = [adam(network, tools, lr=2e-4, betas=(0.5, 0.999)) for network in networks]
    images = torch.rand(rows, channels, side, side, device=device).to(torch.float32, **tools.layout)
    code = torch.randn(rows, CODE, 1, 1, device=device)
    real, fake = torch.ones(rows, device=device), torch.zeros(rows, device=device)

    def loss_of(images, wanted):
        with tools.narrowed():
            return functional.binary_cross_entropy_with_logits(judge(images).view(-1).float(), wanted)

    def step() -> None:
        networks[1].zero_grad(**FORGET)
        loss_of(images, real).backward()
        with tools.narrowed():
            made = make(code)
        loss_of(made.detach(), fake).backward()
        optimizers[1].step()
        networks[0].zero_grad(**FORGET)
        loss_of(made, real).backward()
        optimizers[0].step()

    return step


def adam(model, tools, **rates):
    """Fused where the library has that form; one that a CUDA graph records must be told so."""
    capturable = tools.options.execution.endswith("cudagraph")
    form = {"fused": True, "capturable": capturable} if MODERN else {}
    return torch.optim.Adam(model.parameters(), **rates, **form)


def text(most, length, tools, **own):
    """What is read, and what is said."""
    words, steps = own.get("words", most), own.get("steps", length)
    rows, device = tools.options.batch, tools.options.device
    read = torch.randint(words, (rows, steps), device=device)
    return read, torch.randint(words, (rows * steps,), device=device)


def pairs(tools, words=30_522, steps=128, **_):
    rows, device = tools.options.batch, tools.options.device
    shapes = ((words, (rows, steps)), (2, (rows, steps)), (2, (rows,)))
    return [torch.randint(most, shape, device=device) for most, shape in shapes]


def photos(tools, **_):
    rows, device = tools.options.batch, tools.options.device
    images = torch.randn(rows, 3, 224, 224, device=device).to(torch.float32, **tools.layout)
    return images, torch.randint(1000, (rows,), device=device)


def digits(tools, **_):
    return (torch.rand(tools.options.batch, 1, 28, 28, device=tools.options.device),)


def counted(parameters):
    return sum(parameter.numel() for parameter in parameters)


# (network, dataset): what makes its step, parameter count
CASES = {
    ("lstm", "text"): (partial(adam_step, TextLSTM, partial(text, 10_000, 32)), 6_182_672),
    ("vae", "mnist"): (partial(adam_step, VAE, digits), 652_824),
    ("rbm", "mnist"): (rbm_step, 393_284),
    ("dcgan", "mnist"): (partial(dcgan_step, 28, 1), 898_304),
    ("dcgan", "faces64"): (partial(dcgan_step, 64, 3), 6_342_272),
    ("vit-b16", "imagenet"): (partial(adam_step, ViT, photos), 86_567_656),
    ("gpt2", "text"): (
        partial(adam_step, GPT2, partial(text, 50_257, 1024), learning_rate=6e-4, betas=(0.9, 0.95)),
        124_439_808,
    ),
    ("bert-base", "text"): (partial(adam_step, BERT, pairs, learning_rate=2e-5), 109_483_778),
}
