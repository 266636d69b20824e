"""Transformers, and the mixer that came after them: encoders and decoders of rows of vectors.

Weights start as their papers have them, uniform in place of normal with the same deviation.
"""

from math import sqrt

from netdyno.errors import NetdynoError
from netdyno.graph.model import Draw, Optimizer, constant, uniform_within
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.entry import TRANSFORMER, Entry
from netdyno.zoo.items import IMAGENET, TEXT

SMALL = uniform_within(0.02 * sqrt(3))  # a deviation of 0.02
PATCH = 16


def vit_b16(net: Net, images: Value, *, layers: int = 12, width: int = 768, heads: int = 12) -> Value:
    """Patches of 16×16 and a class token, whose last vector is classified; norms come before each part of a layer."""
    x = _patches(net, images, width)
    blank = net.scale(net.slice(x, 1, 0, 1), 0.0)
    token = net.parameter("class_token", (1, 1, width), constant(0.0), kind="sequence")
    x = net.concat(net.add(blank, token), x)
    x = net.add(x, net.parameter("positions", (1, x.shape[1], width), SMALL, kind="sequence"))
    for number in range(1, layers + 1):
        with net.scope(f"layer{number}"):
            x = net.add(x, _attended(net, net.layer_norm(x, epsilon=1e-6), heads))
            x = net.add(x, _two_layers(net, net.layer_norm(x, epsilon=1e-6), 4 * width))
    x = net.layer_norm(x, epsilon=1e-6)
    logits = net.classifier(net.reshape(net.slice(x, 1, 0, 1), (-1, width)), name="head")
    return _classified(net, logits, net.labels)


def mlp_mixer_b16(net: Net, images: Value, *, layers: int = 12, width: int = 768) -> Value:
    """Patches of 16×16; a layer mixes the patches, then the channels, each with two linear layers."""
    x = _patches(net, images, width)
    for number in range(1, layers + 1):
        with net.scope(f"layer{number}"):
            turned = net.transpose(net.layer_norm(x, epsilon=1e-6), (0, 2, 1), kind="sequence")
            mixed = _two_layers(net, turned, width // 2, name="patches")
            x = net.add(x, net.transpose(mixed, (0, 2, 1), kind="sequence"))
            x = net.add(x, _two_layers(net, net.layer_norm(x, epsilon=1e-6), 4 * width, name="channels"))
    mean = net.reduce_mean(net.layer_norm(x, epsilon=1e-6), (1,))
    return _classified(net, net.classifier(mean, name="head"), net.labels)


def gpt2(
    net: Net,
    *,
    words: int = 50_257,
    steps: int = 1024,
    context: int = 1024,
    layers: int = 12,
    width: int = 768,
    heads: int = 12,
) -> Value:
    """Says the next token after each; the table of its words is used again to say them. `context` is the longest
    row that it can read. Without dropout, as it is trained today."""
    _expect_within("gpt2", steps, context)
    read, said = net.text(steps, words)
    table = net.parameter("words.weight", (words, width), SMALL)
    places = net.parameter("positions.weight", (context, width), uniform_within(0.01 * sqrt(3)))
    x = net.add(net.gather(table, read), net.slice(places, 0, 0, steps) if steps < context else places)
    ends = uniform_within(0.02 * sqrt(3 / (2 * layers)))  # of each sum's second part
    for number in range(1, layers + 1):
        with net.scope(f"layer{number}"):
            x = net.add(x, _attended(net, net.layer_norm(x), heads, causal=True, end=ends))
            x = net.add(x, _two_layers(net, net.layer_norm(x), 4 * width, form="tanh", end=ends))
    x = net.layer_norm(x)
    logits = net.linear(net.reshape(x, (-1, width)), words, bias=False, weight=table, name="logits")
    return _classified(net, logits, said, beta2=0.95)


def bert_base(
    net: Net,
    *,
    words: int = 30_522,
    steps: int = 128,
    context: int = 512,
    layers: int = 12,
    width: int = 768,
    heads: int = 12,
) -> Value:
    """Classifies a pair of texts by the vector of its first token; a norm comes after each sum. Without dropout."""
    _expect_within("bert-base", steps, context)
    tokens, segments = net.tokens(steps, words), net.tokens(steps, 2, name="segments")
    tables = {"words": words, "segments": 2, "positions": context}
    weights = {name: net.parameter(f"{name}.weight", (rows, width), SMALL) for name, rows in tables.items()}
    x = net.add(net.gather(weights["words"], tokens), net.gather(weights["segments"], segments))
    places = weights["positions"]
    x = net.layer_norm(net.add(x, net.slice(places, 0, 0, steps) if steps < context else places), epsilon=1e-12)
    for number in range(1, layers + 1):
        with net.scope(f"layer{number}"):
            x = net.layer_norm(net.add(x, _attended(net, x, heads)), epsilon=1e-12)
            x = net.layer_norm(net.add(x, _two_layers(net, x, 4 * width)), epsilon=1e-12)
    first = net.reshape(net.slice(x, 1, 0, 1), (-1, width))
    pooled = net.tanh(_linear(net, first, width, name="pooler"))
    labels = net.input("labels", (net.batch,), Draw(kind="integers", high=2.0))
    return _classified(net, _linear(net, pooled, 2, name="head"), labels)


def _patches(net: Net, images: Value, width: int) -> Value:
    """A row for each patch of the images."""
    height, breadth = images.shape[2:]
    if height % PATCH or breadth % PATCH:
        raise NetdynoError(f"images: expected a height and width that {PATCH} divides, received {height}×{breadth}.")
    x = net.convolution(images, width, PATCH, stride=PATCH, name="patches")
    rows = net.reshape(x, (-1, width, height // PATCH * (breadth // PATCH)))
    return net.transpose(rows, (0, 2, 1), kind="sequence")


def _attended(net: Net, x: Value, heads: int, *, causal: bool = False, end: Draw = SMALL) -> Value:
    """Attention of a sequence to itself: queries, keys and values in one product."""
    _, steps, width = x.shape
    if width % heads:
        raise NetdynoError(f"attention: expected a width that {heads} heads divide, received {width}.")
    every = _linear(net, net.reshape(x, (-1, width)), 3 * width, name="attention.in")
    parts = [net.slice(every, 1, part * width, (part + 1) * width) for part in range(3)]
    split = [net.reshape(part, (-1, steps, heads, width // heads)) for part in parts]
    query, key, value = (net.transpose(part, (0, 2, 1, 3)) for part in split)
    seen = net.transpose(net.attention(query, key, value, causal=causal), (0, 2, 1, 3))
    out = _linear(net, net.reshape(seen, (-1, width)), width, name="attention.out", initial=end)
    return net.reshape(out, (-1, steps, width), kind="sequence")


def _two_layers(net: Net, x: Value, inner: int, *, name: str = "mlp", form: str = "erf", end: Draw = SMALL) -> Value:
    """Two linear layers with a GELU between them, of every row."""
    _, steps, width = x.shape
    bent = net.gelu(_linear(net, net.reshape(x, (-1, width)), inner, name=f"{name}.in"), form=form)
    out = _linear(net, bent, width, name=f"{name}.out", initial=end)
    return net.reshape(out, (-1, steps, width), kind="sequence")


def _linear(net: Net, x: Value, features: int, *, name: str, initial: Draw = SMALL) -> Value:
    return net.linear(x, features, initial=lambda fan_in, fan_out: initial.high, name=name)


def _classified(net: Net, logits: Value, labels: Value, *, beta2: float = 0.999) -> Value:
    loss = net.softmax_cross_entropy(logits, labels, name="loss")
    net.update(loss, optimizer=Optimizer(kind="adam", learning_rate=net.learning_rate, beta2=beta2))
    return logits


def _expect_within(network: str, steps: int, context: int) -> None:
    if steps > context:
        raise NetdynoError(f"network '{network}', steps: expected at most {context} (its context), received {steps}.")


def _layer_parameters(width: int) -> int:
    """Attention, two linear layers with four times the width between them, two norms."""
    return 12 * width**2 + 13 * width


def _layer_macs(width: int, steps: int) -> int:
    """Of one row: the products with weights, queries with keys, and shares with values."""
    return 12 * width**2 * steps + 2 * steps**2 * width


_ADAM = "counted by hand; Adam, batch and rate for one GPU"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        network="vit-b16",
        family=TRANSFORMER,
        items=IMAGENET,
        build=vit_b16,
        source="Dosovitskiy et al. 2020, An image is worth 16x16 words: ViT-B/16, 86 M; torchvision 86,567,656",
        parameters=86_567_656,
        macs=196 * 768**2 + 12 * _layer_macs(768, 197) + 768_000,
        batch=64,
        learning_rate=0.001,
        proof_items=IMAGENET.of_size(32),
        proof_options={"width": 24, "heads": 3},
        note=_ADAM,
    ),
    Entry(
        network="mlp-mixer-b16",
        family=TRANSFORMER,
        items=IMAGENET,
        build=mlp_mixer_b16,
        source="Tolstikhin et al. 2021, MLP-Mixer: B/16, 59 M",
        parameters=59_880_472,
        macs=196 * 768**2 + 12 * (2 * 196 * 384 * 768 + 8 * 768**2 * 196) + 768_000,
        batch=64,
        learning_rate=0.001,
        proof_items=IMAGENET.of_size(32),
        proof_options={"width": 24},
        note=_ADAM,
    ),
    Entry(
        network="gpt2",
        family=TRANSFORMER,
        items=TEXT,
        build=gpt2,
        source="Radford et al. 2019, Language models are unsupervised multitask learners: the smallest, 124 M",
        parameters=(50_257 + 1024 + 2) * 768 + 12 * _layer_parameters(768),
        macs=12 * _layer_macs(768, 1024) + 1024 * 768 * 50_257,
        batch=8,
        learning_rate=6e-4,
        units="steps",
        proof_options={"words": 60, "steps": 8, "context": 8, "width": 24, "heads": 3},
        note=_ADAM,
    ),
    Entry(
        network="bert-base",
        family=TRANSFORMER,
        items=TEXT,
        build=bert_base,
        source="Devlin et al. 2018, BERT: base, 110 M, with the head of a task of two classes",
        parameters=(30_522 + 2 + 512 + 2) * 768 + 12 * _layer_parameters(768) + 768 * 769 + 2 * 769,
        macs=12 * _layer_macs(768, 128) + 768**2 + 2 * 768,
        batch=32,
        learning_rate=2e-5,
        units="steps",
        proof_options={"words": 60, "steps": 5, "context": 8, "width": 24, "heads": 3},
        note=_ADAM,
    ),
)
