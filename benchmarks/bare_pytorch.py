"""How fast is PyTorch without any harness? Hand-written training loops over torch.nn, to hold the adapter against.

    echo 100 | python benchmarks/bare_pytorch.py --network lenet --dataset mnist --batch 64

prints the seconds that a hundred steps took; see blocks.py.
"""

import contextlib
from collections import namedtuple

import torch
import torch_families
from blocks import check_parameters, read_options, serve
from torch.nn import functional
from torch_models import VGG16, AlexNet, AlexNetSmall, GoogLeNet, LeNet, ResNet50, SmallGoogLeNet

MODERN = hasattr(torch, "channels_last")  # the file also runs in torch 1.0 and Python 3.6
nullcontext = getattr(contextlib, "nullcontext", contextlib.ExitStack)


# (network, dataset): its module, parameter count, image shape, classes, learning rate
CASES = {
    ("lenet", "mnist"): (LeNet, 61_706, (1, 28, 28), 10, 0.01),
    ("alexnet", "cifar10"): (AlexNetSmall, 2_472_266, (3, 32, 32), 10, 0.01),
    ("resnet50", "cifar10"): (lambda: ResNet50(10, small=True), 23_520_842, (3, 32, 32), 10, 0.1),
    ("resnet50", "imagenet"): (lambda: ResNet50(1000, small=False), 25_557_032, (3, 224, 224), 1000, 0.1),
    ("googlenet", "cifar10"): (SmallGoogLeNet, 6_166_250, (3, 32, 32), 10, 0.1),
    ("vgg16", "cifar10"): (lambda: VGG16(10, small=True), 15_253_578, (3, 32, 32), 10, 0.01),
    ("alexnet", "imagenet"): (AlexNet, 60_965_224, (3, 227, 227), 1000, 0.01),
    ("googlenet", "imagenet"): (GoogLeNet, 6_998_552, (3, 224, 224), 1000, 0.01),
    ("vgg16", "imagenet"): (lambda: VGG16(1000, small=False), 138_357_544, (3, 224, 224), 1000, 0.001),
}

# What a step of another family needs: how it is to run, its parameter count, and the switches for this precision,
# execution and device.
Tools = namedtuple("Tools", "options expected layout narrowed compiled")


def training_step(options):
    """A function that makes one step on a batch that stays on the device."""
    prepare(options)
    layout = {"memory_format": memory_layout(options)} if MODERN else {}
    case = options.network, options.dataset
    if case in CASES:
        step = classifier_step(options, layout)
    else:
        make, count = torch_families.CASES[case]
        compiled = torch.compile if options.execution.startswith("compiled") else lambda function: function
        step = make(Tools(options, options.expected(count), layout, lambda: narrowed(options), compiled))
    return recorded(step) if options.execution.endswith("cudagraph") else step


def classifier_step(options, layout):
    make, count, shape, classes, learning_rate = CASES[options.network, options.dataset]
    model = make().to(device=options.device, **layout).train()
    check_parameters(sum(parameter.numel() for parameter in model.parameters()), count)
    images = torch.randn(options.batch, *shape, device=options.device).to(torch.float32, **layout)
    labels = torch.randint(classes, (options.batch,), device=options.device)
    fused = {"fused": True} if MODERN else {}
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9, **fused)
    forget = {"set_to_none": True} if MODERN else {}
    forward = torch.compile(model) if options.execution.startswith("compiled") else model

    def step() -> None:
        optimizer.zero_grad(**forget)
        with narrowed(options):
            loss = functional.cross_entropy(forward(images), labels)
        loss.backward()
        optimizer.step()

    return step


def recorded(step):
    """The step as one CUDA graph, as PyTorch's documentation shows it."""
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


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
    options = read_options({**CASES, **torch_families.CASES})
    wait = torch.cuda.synchronize if options.device == "cuda" else lambda: None
    serve(training_step(options), wait)


if __name__ == "__main__":
    main()
