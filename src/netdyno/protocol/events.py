"""The events of a worker: one JSON object a line, distinguished by the field "event"."""

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct

from netdyno.protocol.fields import (
    MOST_PICTURES,
    Count,
    Duration,
    Name,
    Number,
    Pixels,
    Positive,
    Scalar,
    Seconds,
    Settings,
    Share,
    Side,
    Text,
)

Losses = Annotated[dict[Name, Number | None], Meta(max_length=1_000)]
Sizes = dict[Name, Number | None]
"""Root mean squares by tensor; null for one that is not finite."""
Stages = Annotated[dict[Name, Seconds], Meta(max_length=100)]


def _tag(class_name: str) -> str:
    """`FirstStep` is written as `first_step`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", class_name).lower()


class Event(Struct, frozen=True, kw_only=True, tag_field="event", tag=_tag):
    """`at` is the system's monotonic clock in seconds, which host and worker share."""

    at: Seconds


class Hello(Event, frozen=True, kw_only=True):
    """The adapter is imported."""

    protocol: Count
    versions: Annotated[dict[Name, Name], Meta(max_length=200)]
    worker: Name = ""
    python: Name = ""
    pid: Count | None = None


class Built(Event, frozen=True, kw_only=True):
    """The network is built and its weights are loaded."""

    seconds: Seconds
    weights: Name  # a digest of the initial values
    settings: Settings = {}
    parameters: Count = 0
    host_peak_bytes: Count | None = None


class FirstStep(Event, frozen=True, kw_only=True):
    """The first step is timed separately: compilation and autotuning happen in it."""

    seconds: Seconds


class Loss(Event, frozen=True, kw_only=True):
    """The loss of each update; null for one that is not finite."""

    when: Literal["first", "last"]
    losses: Losses


class Warmup(Event, frozen=True, kw_only=True):
    """The warm-up has ended, because it was steady or at its cap; blocks are (steps, seconds)."""

    steady: bool
    blocks: Annotated[list[tuple[Positive, Duration]], Meta(max_length=100_000)] = []


class Sample(Event, frozen=True, kw_only=True):
    """One timed block."""

    steps: Positive
    seconds: Duration


class Launch(Event, frozen=True, kw_only=True):
    """Medians over steps that start with an empty queue: until step() returned, and until it was computed."""

    asked_s: Seconds
    computed_s: Seconds


class Split(Event, frozen=True, kw_only=True):
    """Seconds of each stage of a step, or why there are none."""

    stages: Stages = {}
    absent: Text = ""


class Memory(Event, frozen=True, kw_only=True):
    """Peaks so far; null where the framework cannot say."""

    host_peak_bytes: Count | None = None
    device_peak_bytes: Count | None = None
    device_reserved_bytes: Count | None = None


class Phases(Event, frozen=True, kw_only=True):
    """A run on real data: computing and loading timed separately. Turns are (without feeding, with it)."""

    compute_s: Duration
    load_s: Duration
    feed_s: Duration
    loader: Stages
    turns: Annotated[list[tuple[Duration, Duration]], Meta(max_length=1_000)] = []
    notes: Annotated[dict[Name, Scalar], Meta(max_length=200)] = {}


class Proof(Event, frozen=True, kw_only=True):
    """One case, by kind and tensor: of the reference how large each is, of others how far from the reference; or why
    it is unsupported."""

    case: Name
    tensors: Annotated[dict[Name, Sizes], Meta(max_length=20)] = {}
    unsupported: Text = ""


class Probe(Event, frozen=True, kw_only=True):
    """One execution tried for a short time: its speed, or why there is none."""

    execution: Name
    seconds_per_step: Duration | None = None
    absent: Text = ""


class Evaluation(Event, frozen=True, kw_only=True):
    """Accuracy, where items are classified, loss and other scores on the test split after so many steps; evaluating
    is not part of `train_s`."""

    step: Count
    train_s: Seconds
    wall_s: Seconds
    accuracy: Share | None = None
    loss: Number | None
    scores: dict[Name, Number | None] = {}
    epoch: Seconds = 0.0
    evaluate_s: Seconds = 0.0
    correct: Count = 0
    count: Count = 0


class Stage(Event, frozen=True, kw_only=True):
    """A stage that comes before the one that is measured has been learnt."""

    steps: Count
    seconds: Seconds
    losses: Losses


class Trained(Event, frozen=True, kw_only=True):
    """Learning has ended: how much was trained, and how long it took."""

    steps: Count
    items: Count
    train_s: Seconds
    wall_s: Seconds
    loader: Stages = {}


class Drawn(Struct, frozen=True, kw_only=True):
    """Pictures of `channels` bytes a pixel, row by row, one after the other: `made` by the network, and as many
    `images` of the test split."""

    height: Side
    width: Side
    channels: Literal[1, 3]
    made: Pixels
    images: Pixels
    sees_images: bool  # those that are made are computed from them

    def __post_init__(self) -> None:
        count, rest = divmod(len(self.made), self.height * self.width * self.channels)
        if rest or not 0 < count <= MOST_PICTURES or len(self.images) != len(self.made):
            shape = f"{self.height}×{self.width}×{self.channels}"
            raise ValueError(
                f"Expected 1 to {MOST_PICTURES} pictures of {shape} and as many images,"
                f" got {len(self.made)} and {len(self.images)} bytes"
            )


class Pictures(Event, frozen=True, kw_only=True):
    """What the network makes of the first test images, or why it could not be read."""

    drawn: Drawn | None = None
    absent: Text = ""


class Done(Event, frozen=True, kw_only=True):
    """Last word: everything that was requested is done."""


class Unsupported(Event, frozen=True, kw_only=True):
    """Last word: the framework cannot do what was requested."""

    reason: Text


class OutOfMemory(Event, frozen=True, kw_only=True):
    """Last word: the device or the host had no memory left."""

    reason: Text


class Failed(Event, frozen=True, kw_only=True):
    """Last word: anything else that went wrong."""

    reason: Text
    traceback: Text = ""


LastWord = Done | Unsupported | OutOfMemory | Failed
AnyEvent = (
    Hello
    | Built
    | FirstStep
    | Loss
    | Warmup
    | Sample
    | Launch
    | Split
    | Memory
    | Phases
    | Proof
    | Probe
    | Evaluation
    | Stage
    | Trained
    | Pictures
    | LastWord
)
