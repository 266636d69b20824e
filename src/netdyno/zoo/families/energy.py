"""Networks of an energy: the restricted Boltzmann machine (Hinton 2002), learnt by contrastive divergence, and the
deep belief network (Hinton et al. 2006), a tower of them.

With visible units v, their biases b, hidden biases c and weights W, the free energy of v is
−b·v − Σ softplus(Wv + c). Contrastive divergence lowers that of the data and raises that of what the machine makes of
it in k steps, which is taken as it is: then the gradient is the well-known ⟨vh⟩ of the data less ⟨vh⟩ of the
reconstruction.
"""

from collections.abc import Mapping

from netdyno.errors import NetdynoError, unknown
from netdyno.graph.model import Optimizer, constant, uniform_within
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.entry import DEEP, SHALLOW, Entry
from netdyno.zoo.initial_limits import glorot
from netdyno.zoo.items import MNIST
from netdyno.zoo.options import Option

START = uniform_within(0.01 * 3**0.5)  # a deviation of 0.01
MOMENTUM = 0.5
PRETRAINED, DRAWN = "pretrained", "drawn"
STARTS = (PRETRAINED, DRAWN)


def rbm(net: Net, images: Value, *, hidden: int = 500, k: int = 1) -> tuple[Value, Value]:
    """Hidden units are drawn, visible ones are probabilities; `k` is how often both are made from each other."""
    data = net.flatten(images)
    return _learn(net, data, Machine(net, data.shape[1], hidden), k)


def dbn(
    net: Net,
    images: Value,
    *,
    hidden: int = 500,
    top: int = 2000,
    stage: int = 4,
    start: str = PRETRAINED,
    epochs: int = 5,
    labels: int = 60_000,
) -> Value | tuple[Value, Value]:
    """Stages 1 to 3 each teach a machine what the one below makes of the images; stage 4 tunes them all, gently, as
    layers of a classifier, with as many `labels`. `start` is "pretrained", for so many `epochs`, or "drawn"."""
    sizes = (hidden, hidden, top)
    if stage > len(sizes) + 1:
        raise NetdynoError(f"network 'dbn', stage: expected at most {len(sizes) + 1}, received {stage}.")
    if start not in STARTS:
        raise unknown("start of dbn", start, STARTS)
    x = net.flatten(images)
    for number, size in enumerate(sizes[:stage], start=1):
        with net.scope(f"layer{number}"):
            if number == stage:
                return _learn(net, x, Machine(net, x.shape[1], size), k=1, group=f"layer{number}")
            x = net.sigmoid(net.linear(x, size, initial=glorot if start == DRAWN else _small, name="machine"))
    return net.classifier(x, name="classes")


def _small(fan_in: int, fan_out: int) -> float:
    return START.high


def earlier_stages(options: Mapping[str, Option]) -> list[dict[str, Option]]:
    """The options of the stages that come before the one of these options."""
    before = range(1, int(options["stage"])) if options["start"] == PRETRAINED else ()
    return [{**options, "stage": stage} for stage in before]


def _learn(net: Net, data: Value, machine: "Machine", k: int, group: str | None = None) -> tuple[Value, Value]:
    """One machine, by its own parameters: those of a group, if there are others."""
    made = data
    for _ in range(k):
        made = machine.visible(net.bernoulli(machine.hidden(made)))
    made = net.stop_gradient(made, name="made")
    loss = net.subtract(machine.free_energy(data), machine.free_energy(made), name="loss")
    optimizer = Optimizer(kind="momentum", learning_rate=net.learning_rate, momentum=MOMENTUM)
    net.update(loss, [group] if group else None, optimizer=optimizer)
    return made, net.mean_squared_error(made, data, name="reconstruction_error")


class Machine:
    """The parameters of a restricted Boltzmann machine, and what is computed with them: those of a linear layer, and
    a bias of what it reads."""

    def __init__(self, net: Net, visible: int, hidden: int, name: str = "machine") -> None:
        self._net = net
        self._weight = net.parameter(f"{name}.weight", (hidden, visible), START)
        self._to_hidden = net.parameter(f"{name}.bias", (hidden,), constant(0.0))
        self._to_visible = net.parameter(f"{name}.visible_bias", (visible,), constant(0.0))

    def hidden(self, visible: Value) -> Value:
        """The probability of each hidden unit."""
        return self._net.sigmoid(self._driven(visible))

    def visible(self, hidden: Value) -> Value:
        """The probability of each visible unit."""
        net = self._net
        return net.sigmoid(net.add(net.matmul(hidden, self._weight), self._to_visible))

    def free_energy(self, visible: Value) -> Value:
        """Its mean over the batch."""
        net = self._net
        own = net.reduce_sum(net.multiply(visible, self._to_visible), (1,))
        shared = net.reduce_sum(net.softplus(self._driven(visible)), (1,))
        return net.scale(net.reduce_mean(net.add(own, shared), (0,)), -1.0)

    def _driven(self, visible: Value) -> Value:
        net = self._net
        return net.linear(visible, self._to_hidden.shape[0], weight=self._weight, bias=self._to_hidden)


ENTRIES = (
    Entry(
        network="rbm",
        family=SHALLOW,
        items=MNIST.within(0.0, 1.0),
        build=rbm,
        source="Hinton 2002, Training products of experts by minimizing contrastive divergence; Salakhutdinov and "
        "Murray 2008: 500 hidden units on MNIST, CD-1",
        parameters=784 * 500 + 500 + 784,
        macs=4 * 784 * 500,  # up and down, and both free energies
        batch=100,
        learning_rate=0.05,
        steps=600,
        proof_options={"hidden": 40},
        note="counted by hand from the layers",
    ),
    Entry(
        network="dbn",
        family=DEEP,
        items=MNIST.within(0.0, 1.0),
        build=dbn,
        source="Hinton et al. 2006, A fast learning algorithm for deep belief nets: 784-500-500-2000-10, tuned by "
        "gradients as in Hinton and Salakhutdinov 2006",
        parameters=785 * 500 + 501 * 500 + 501 * 2000 + 2001 * 10,
        macs=784 * 500 + 500 * 500 + 500 * 2000 + 2000 * 10,
        batch=100,
        learning_rate=0.05,
        steps=600,
        earlier=earlier_stages,
        labelled="labels",
        proof_options={"hidden": 40, "top": 60},
        note="counted by hand from the layers of stage 4",
    ),
)
