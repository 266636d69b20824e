"""Is every unsound graph refused, with the name of what is wrong in it?"""

from dataclasses import replace
from typing import Any

import pytest

from netdyno.errors import NetdynoError
from netdyno.graph.check import ancestors, check_programme
from netdyno.graph.model import Draw, Graph, Input, Node, Optimizer, Parameter, Programme, Stage, Update, causal_mask

NORMAL = Draw(kind="normal")
WEIGHT = Parameter(name="w", shape=(3, 5), initial=NORMAL)
STATE = Parameter(name="seen", shape=(5,), initial=NORMAL, trainable=False)
LINEAR = Node(name="fc", op="linear", inputs=("x", "w"), shape=(2, 3))
LOSS = Node(name="loss", op="softmax_cross_entropy", inputs=("fc", "labels"), shape=())
UPDATE = Update(name="train", loss="loss", parameters=("w",), optimizer=Optimizer(kind="sgd", learning_rate=0.1))
LABELS = Input(name="labels", shape=(2,), draw=Draw(kind="integers", high=3), dtype="integer")
GRAPH = Graph(
    inputs=(
        Input(name="x", shape=(2, 5), draw=NORMAL),
        LABELS,
    ),
    parameters=(WEIGHT, STATE),
    nodes=(LINEAR, LOSS),
    outputs=("fc",),
)
STAGE = Stage(name="train", updates=(UPDATE,))
PROGRAMME = Programme(graph=GRAPH, stages=(STAGE,))


def _refused(programme: Programme, complaint: str) -> None:
    with pytest.raises(NetdynoError, match=complaint):
        check_programme(programme)


def _with(**changes: Any) -> Programme:
    return replace(PROGRAMME, graph=replace(GRAPH, **changes))


def _updating(**changes: Any) -> Programme:
    return replace(PROGRAMME, stages=(replace(STAGE, updates=(replace(UPDATE, **changes),)),))


def test_a_sound_programme_passes() -> None:
    check_programme(PROGRAMME)


def test_a_programme_may_have_no_stage_or_several() -> None:
    check_programme(Programme(graph=GRAPH))
    later = Stage(name="fine-tune", updates=(replace(UPDATE, name="tune"), replace(UPDATE, name="again")))
    programme = replace(PROGRAMME, stages=(STAGE, later))
    check_programme(programme)
    assert [update.name for update in programme.updates()] == ["train", "tune", "again"]


def test_ancestors_are_all_that_a_value_is_computed_from() -> None:
    assert ancestors(GRAPH, "loss") == {"loss", "fc", "labels", "x", "w"}
    assert ancestors(GRAPH, "seen") == {"seen"}


@pytest.mark.parametrize(
    ("node", "complaint"),
    [
        (replace(LINEAR, inputs=("x",)), "node 'fc': expected 2 to 3 inputs, received 1"),
        (replace(LINEAR, inputs=("x", "w", "w", "w")), "node 'fc': expected 2 to 3 inputs, received 4"),
        (replace(LINEAR, op="concat", inputs=()), "node 'fc': expected 1 to any number of inputs, received 0"),
        (replace(LINEAR, op="relu"), "node 'fc': expected 1 inputs, received 2"),
        (replace(LINEAR, op="liner"), "node 'fc': no op named 'liner'.*Did you mean 'linear'"),
        (replace(LINEAR, attributes={"bias": 1}), r"node 'fc': expected attributes \[\], received 'bias'"),
        (replace(LINEAR, op="dropout", inputs=("x",)), "node 'fc': expected an attribute 'rate', received none"),
        (replace(LINEAR, shape=(2, 4)), r"node 'fc': expected shape \[2, 3\], received \[2, 4\]"),
        (replace(LINEAR, inputs=("x", "v")), "node 'fc': expected inputs that come earlier, received 'v'"),
        (replace(LINEAR, inputs=("x", "loss")), "node 'fc': expected inputs that come earlier, received 'loss'"),
        (replace(LINEAR, name="x"), "'x': expected a name used once"),
        (replace(LINEAR, name=""), "expected a name, received an empty one"),
    ],
)
def test_a_wrong_node_is_refused_by_name(node: Node, complaint: str) -> None:
    _refused(_with(nodes=(node, LOSS)), complaint)


def test_what_is_drawn_by_row_and_column_has_both() -> None:
    mask = Parameter(name="mask", shape=(4,), initial=causal_mask(), trainable=False)
    _refused(_with(parameters=(*GRAPH.parameters, mask)), "parameter 'mask': expected two axes or more")


@pytest.mark.parametrize(
    ("programme", "complaint"),
    [
        (_with(nodes=(replace(LINEAR, kind="image"), LOSS)), "node 'fc': expected kind 'plain', received 'image'"),
        (_with(inputs=(replace(GRAPH.inputs[0], kind="kernel"), LABELS)), "input 'x': expected a kind among"),
        (_with(inputs=(replace(GRAPH.inputs[0], kind="image"), LABELS)), r"'x' \(image\): expected 4 axes"),
        (_with(parameters=(replace(WEIGHT, kind="matrix"), STATE)), "parameter 'w': expected a kind among"),
        (_with(inputs=(GRAPH.inputs[0], replace(LABELS, dtype="int"))), "input 'labels': expected a dtype among"),
        (_with(inputs=(GRAPH.inputs[0], replace(LABELS, draw=NORMAL))), "input 'labels': expected integers drawn as"),
        (
            _with(inputs=(GRAPH.inputs[0], replace(LABELS, draw=NORMAL, dtype="float"))),
            "node 'loss': expected integers as its labels, received 'labels'",
        ),
        (
            _with(inputs=(replace(GRAPH.inputs[0], draw=LABELS.draw, dtype="integer"), LABELS)),
            "node 'fc': expected floats as its x, received 'x'",
        ),
    ],
)
def test_kinds_and_types_are_checked(programme: Programme, complaint: str) -> None:
    _refused(programme, complaint)


def test_running_statistics_must_be_state() -> None:
    vector = replace(STATE, name="learnt", trainable=True)
    node = Node(
        name="bn",
        op="batch_norm",
        inputs=("x", "learnt", "learnt", "learnt", "seen"),
        shape=(2, 5),
        attributes={"epsilon": 1e-5, "momentum": 0.1},
    )
    programme = _with(parameters=(WEIGHT, STATE, vector), nodes=(node, LINEAR, LOSS))
    _refused(programme, "node 'bn': expected state as its running_mean, received 'learnt'")


@pytest.mark.parametrize(
    ("programme", "complaint"),
    [
        (_updating(loss="fc"), "update 'train': expected a scalar node as loss, received 'fc'"),
        (_updating(loss="lost"), "update 'train': expected a scalar node as loss, received 'lost'"),
        (_updating(parameters=()), "update 'train': expected at least one parameter"),
        (_updating(parameters=("seen",)), "update 'train': expected trainable parameters, received 'seen'"),
        (_updating(parameters=("x",)), "update 'train': expected trainable parameters, received 'x'"),
        (
            _updating(optimizer=Optimizer(kind="adm", learning_rate=0.1)),
            "update 'train': no optimizer named 'adm'.*Did you mean 'adam'",
        ),
        (
            _updating(optimizer=Optimizer(kind="sgd", learning_rate=0.0)),
            "update 'train': expected a learning rate over 0",
        ),
        (
            replace(PROGRAMME, stages=(replace(STAGE, updates=()),)),
            "stage 'train': expected at least one update",
        ),
        (replace(PROGRAMME, stages=(STAGE, replace(STAGE, name="more"))), "updates: expected names used once"),
        (
            replace(PROGRAMME, stages=(STAGE, replace(STAGE, updates=(replace(UPDATE, name="again"),)))),
            "stages: expected names used once",
        ),
        (_with(outputs=("logits",)), "output 'logits': expected the name of a value"),
        (_with(parameters=(replace(WEIGHT, initial=Draw(kind="gauss")), STATE)), "parameter 'w': expected a draw"),
        (_with(inputs=(replace(GRAPH.inputs[0], draw=Draw(kind="gauss")),)), "input 'x': expected a draw"),
    ],
)
def test_a_wrong_update_output_or_draw_is_refused_by_name(programme: Programme, complaint: str) -> None:
    _refused(programme, complaint)


def test_a_parameter_that_the_loss_does_not_depend_on_is_refused() -> None:
    idle = replace(WEIGHT, name="idle")
    graph = replace(GRAPH, parameters=(WEIGHT, STATE, idle))
    stage = replace(STAGE, updates=(replace(UPDATE, parameters=("w", "idle")),))
    programme = Programme(graph=graph, stages=(stage,))
    _refused(programme, "update 'train': expected parameters that 'loss' depends on, received 'idle'")
