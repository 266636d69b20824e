"""Networks of an energy: the restricted Boltzmann machine (Hinton 2002), learnt by contrastive divergence.

With visible units v, their biases b, hidden biases c and weights W, the free energy of v is
−b·v − Σ softplus(Wv + c). Contrastive divergence lowers that of the data and raises that of what the machine makes of
it in k steps, which is taken as it is: then the gradient is the well-known ⟨vh⟩ of the data less ⟨vh⟩ of the
reconstruction.
"""

from netdyno.graph.model import Optimizer, constant, uniform_within
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.entry import SHALLOW, Entry
from netdyno.zoo.items import MNIST

START = uniform_within(0.01 * 3**0.5)  # a deviation of 0.01
MOMENTUM = 0.5


def rbm(net: Net, images: Value, *, hidden: int = 500, k: int = 1) -> tuple[Value, Value]:
    """Hidden units are drawn, visible ones are probabilities; `k` is how often both are made from each other."""
    data = net.flatten(images)
    machine = Machine(net, data.shape[1], hidden)
    made = data
    for _ in range(k):
        made = machine.visible(net.bernoulli(machine.hidden(made)))
    made = net.stop_gradient(made, name="made")
    loss = net.subtract(machine.free_energy(data), machine.free_energy(made), name="loss")
    net.update(loss, optimizer=Optimizer(kind="momentum", learning_rate=net.learning_rate, momentum=MOMENTUM))
    return made, net.mean_squared_error(made, data, name="reconstruction_error")


class Machine:
    """The parameters of a restricted Boltzmann machine, and what is computed with them."""

    def __init__(self, net: Net, visible: int, hidden: int) -> None:
        self._net = net
        self._weight = net.parameter("weight", (hidden, visible), START)
        self._to_hidden = net.parameter("hidden_bias", (hidden,), constant(0.0))
        self._to_visible = net.parameter("visible_bias", (visible,), constant(0.0))

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
)
