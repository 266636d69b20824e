"""The requests to a worker: everything that one rank needs to know, distinguished by the field "task"."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from netdyno.errors import NetdynoError
from netdyno.protocol.fields import (
    MOST_PICTURES,
    PROTOCOL,
    Count,
    Duration,
    Name,
    Number,
    Path,
    Positive,
    Seconds,
    Share,
    TaskName,
    Wire,
)

SEED = 20180907  # of weights and data: the same in every framework and run, so that only time differs


class Request(Struct, frozen=True, kw_only=True):
    """What every task has: who carries it out, on what, and which rank of how many this is."""

    task: TaskName
    worker: Name  # hash of the packed worker
    adapter: Name
    adapter_path: tuple[Path, ...]  # folders with further adapters
    module_path: tuple[Path, ...]  # folders with the framework's modules
    device: Name
    precision: Name
    execution: Name
    threads: Positive
    seed: Count = SEED
    protocol: Count = PROTOCOL
    rank: Count = 0
    ranks: Positive = 1
    cpus: tuple[Count, ...] = ()  # that this rank keeps to; none: all it may use
    devices: tuple[Count, ...] = ()  # GPUs of this rank, by NVML index


class Timing(Struct, frozen=True, kw_only=True):
    """How a run is timed: blocks of `block_s` seconds until the median's interval is within `target`."""

    block_s: Duration
    warmup_cap_s: Duration
    seconds: Duration
    target: Duration
    least_blocks: Positive
    steps: Count = 0  # to time, sure or not; 0: as many as it takes
    split: bool = False  # time the stages of a step too


class Transforms(Struct, frozen=True, kw_only=True):
    """What is done to images of 0..1. `crop` cuts squares of that side: at random in training, from images with `pad`
    black pixels around, and from the centre in evaluation. `flip` mirrors half of the training images. `resized` is a
    random crop of 8 to 100 % of the area, scaled to `crop`."""

    mean: tuple[Number, ...]
    std: tuple[Number, ...]
    crop: Positive | None = None
    pad: Count = 0
    flip: bool = False
    resized: bool = False

    def __post_init__(self) -> None:
        channels = (self.mean, self.std)
        _expect(len(self.mean) == len(self.std) > 0, "mean and std", "a number for each channel", channels)
        _expect(all(value > 0 for value in self.std), "std", "numbers over 0", self.std)
        _expect(self.crop is None or self.crop > 0, "crop", "a side over 0", self.crop)
        _expect(self.pad >= 0, "pad", "0 or more", self.pad)
        _expect(self.crop is not None or self.pad == 0, "pad", "0 where nothing is cropped", self.pad)


class Files(Struct, frozen=True, kw_only=True):
    """A split of real data: `root` is the packed file, or the folder in which the framework's own format lies."""

    format: Name
    root: Path
    split: Name
    transforms: Transforms
    threads: Positive
    count: Positive
    classes: Positive
    seed: Count = SEED


class TimingRequest(Request, frozen=True, kw_only=True):
    """Time the steps of a programme. `train` is such a task; so is any other that times blocks of steps."""

    cell: dict[Name, object]
    programme: Wire
    timing: Timing
    files: Files | None = None


class Folded(Struct, frozen=True, kw_only=True):
    """A batch norm that the evaluation's graph has as a map: whose parameters it is computed from."""

    weight: Name
    bias: Name
    gamma: Name
    beta: Name
    mean: Name
    variance: Name
    epsilon: Number
    old_weight: Name | None
    old_bias: Name | None


class EvaluationGraph(Struct, frozen=True, kw_only=True):
    """The graph that answers where the training's own cannot: without dropout, with folded batch norms."""

    programme: Wire
    folded: tuple[Folded, ...]


class EarlierStage(Struct, frozen=True, kw_only=True):
    """What is learnt first, for so many epochs; the next stage begins with its parameters."""

    programme: Wire
    epochs: Duration


class PicturesPlan(Struct, frozen=True, kw_only=True):
    """What the network makes of the first test images: at most `count` pictures, from an output with as many numbers
    in a row as an image of the input `images` has."""

    programme: Wire  # its graph, with that output alone
    images: Name
    logits: bool  # a sigmoid makes pixels of the output
    sees_images: bool  # the output is computed from the images
    count: Annotated[int, Meta(ge=1, le=MOST_PICTURES)]


class LearningPlan(Struct, frozen=True, kw_only=True):
    """Train on one packed file and evaluate on another, for `steps` or `epochs`, or `until` an accuracy."""

    train: Path
    test: Path
    transforms: Transforms
    logits: Name | None = None  # the output that is compared with labels, where items are classified
    losses: tuple[Name, ...] = ()  # outputs that add up to the loss, where they are not
    scores: dict[Name, Name] = {}  # outputs that are told beside it, by what they are called
    loading_threads: Positive
    steps: Positive | None = None
    epochs: Duration | None = None
    evaluate_every: Count = 0  # steps; 0: at the end only
    until: Share | None = None
    evaluation: EvaluationGraph | None = None
    before: tuple[EarlierStage, ...] = ()
    labelled: Positive | None = None  # the first so many items alone are learnt from
    pictures: PicturesPlan | None = None  # that are made at the end

    def __post_init__(self) -> None:
        lengths = [length for length in (self.steps, self.epochs) if length is not None]
        _expect(len(lengths) == 1, "a learning run", "either steps or epochs", f"{self.steps} and {self.epochs}")
        _expect(lengths[0] > 0, "steps or epochs", "a number over 0", lengths[0])
        _expect(self.evaluate_every >= 0, "evaluate_every", "0 or more steps", self.evaluate_every)
        _expect(self.until is None or 0 < self.until <= 1, "until", "an accuracy in (0, 1]", self.until)
        _expect(self.loading_threads > 0, "loading_threads", "1 or more", self.loading_threads)


class LearnRequest(Request, frozen=True, kw_only=True):
    """Train on real data to a goal."""

    task: Literal["learn"] = "learn"
    cell: dict[Name, object]
    programme: Wire
    plan: LearningPlan


class CaseRequest(Struct, frozen=True, kw_only=True):
    """Outputs, gradients and `steps` updates: the oracle writes `arrays`; its replays and candidates are compared
    with them."""

    name: Name
    programme: Wire
    arrays: Path
    role: Literal["reference", "replay", "candidate"]
    steps: Count = 2


class ProveRequest(Request, frozen=True, kw_only=True):
    """Prove several networks in one process."""

    task: Literal["prove"] = "prove"
    cases: tuple[CaseRequest, ...]


class FitRequest(Request, frozen=True, kw_only=True):
    """Find out whether a batch fits: train a few steps and report the memory."""

    task: Literal["fit"] = "fit"
    cell: dict[Name, object]
    programme: Wire
    steps: Positive


class ProbeRequest(Request, frozen=True, kw_only=True):
    """Try several executions for a short time each. Those of `compile` are built first, side by side with other
    processes that name the same `turn` file; timing is done by one of them at a time."""

    task: Literal["probe"] = "probe"
    cell: dict[Name, object]
    programme: Wire
    executions: Annotated[tuple[Name, ...], Meta(min_length=1)]
    seconds: Seconds
    compile: tuple[Name, ...] = ()
    turn: Path | None = None


def _expect(holds: bool, where: str, expected: str, received: object) -> None:
    if not holds:
        raise NetdynoError(f"{where}: expected {expected}, received {received}.")


AnyRequest = TimingRequest | LearnRequest | ProveRequest | FitRequest | ProbeRequest
