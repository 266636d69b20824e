"""Which networks make pictures? How a worker is asked for them, and what a record keeps of its answer."""

from math import prod

from netdyno.graph.check import ancestors
from netdyno.graph.evaluation import answering
from netdyno.graph.model import Graph, Input, Programme
from netdyno.protocol import events
from netdyno.protocol.event_log import EventLog
from netdyno.protocol.fields import MOST_PICTURES
from netdyno.protocol.request import PicturesPlan
from netdyno.results.pictures import Pictures
from netdyno.runtime.worker import Worker

CHANNELS = (1, 3)  # of what can be shown
SAME_VALUES = ("flatten", "reshape")


def pictures_plan(programme: Programme, worker: Worker) -> PicturesPlan | None:
    """How the pictures of a network that classifies nothing are made; None for one that makes none."""
    graph = programme.graph
    images = _images(graph)
    if images is None or not _is_picture(graph, images):
        return None
    output = graph.outputs[0]
    return PicturesPlan(
        programme=worker.wire(answering(programme, output)),
        images=images.name,
        logits=_are_logits(graph, output),
        sees_images=images.name in ancestors(graph, output),
        count=min(MOST_PICTURES, images.shape[0]),
    )


def kept_pictures(log: EventLog) -> Pictures | None:
    """The pictures that a run handed back."""
    event = log.first(events.Pictures)
    drawn = event.drawn if event else None
    return Pictures(**{name: getattr(drawn, name) for name in drawn.__struct_fields__}) if drawn else None


def why_no_pictures(log: EventLog) -> str:
    """Why a run that was asked for pictures handed none back."""
    event = log.first(events.Pictures)
    return event.absent if event else ""


def _images(graph: Graph) -> Input | None:
    """The input that images of the dataset are fed to, if they can be shown."""
    found = [given for given in graph.inputs if given.kind == "image" and given.dtype == "float"]
    return found[0] if len(found) == 1 and found[0].shape[1] in CHANNELS else None


def _is_picture(graph: Graph, images: Input) -> bool:
    """Whether a row of the first output has as many numbers as an image."""
    shape = graph.shapes()[graph.outputs[0]] if graph.outputs else ()
    return shape[:1] == images.shape[:1] and prod(shape) == prod(images.shape)


def _are_logits(graph: Graph, output: str) -> bool:
    """Whether a loss takes the output, in whatever shape, for logits of pixels."""
    losses = [node for node in graph.nodes if node.op == "binary_cross_entropy"]
    return any(_unshaped(graph, node.inputs[0]) == _unshaped(graph, output) for node in losses)


def _unshaped(graph: Graph, name: str) -> str:
    nodes = {node.name: node for node in graph.nodes}
    while name in nodes and nodes[name].op in SAME_VALUES:
        name = nodes[name].inputs[0]
    return name
