"""Which values of a program are used where: what decides whether a Keras layer can own a parameter."""

from collections import defaultdict

WEIGHTED = ("convolution", "linear", "batch_norm")  # what Keras has layers with weights for
ACTIVATIONS = ("relu", "tanh", "sigmoid")
_ELEMENTWISE = ACTIVATIONS + ("dropout", "scale", "power")


class Uses(object):
    """Every use of every value as (node, place among its inputs)."""

    def __init__(self, program):
        self._parameters = {parameter.name for parameter in program.parameters}
        self._wanted = set(program.outputs) | {update.loss for update in program.updates}
        self._users = defaultdict(list)
        for node in program.nodes:
            for place, name in enumerate(node.inputs):
                self._users[name].append((node, place))

    def owns_weights(self, node):
        """Whether one Keras layer can own all weights of this node and compute every node that uses them."""
        if node.op not in WEIGHTED:
            return False
        own = node.inputs[1:]
        if len(set(own)) < len(own) or not self._parameters.issuperset(own):
            return False
        return all(_alike(user, node) and user.inputs[place] == own[place - 1] for user, place in self._of(own))

    def is_shared(self, node):
        """Whether other nodes use the same weights."""
        return len(self._users[node.inputs[1]]) > 1

    def activation_after(self, node):
        """The node that alone uses this one's value and can be part of its layer, or None."""
        users = self._users[node.name]
        if node.op == "batch_norm" or node.name in self._wanted or len(users) != 1 or self.is_shared(node):
            return None
        return users[0][0] if users[0][0].op in ACTIVATIONS else None

    def weights_behind(self, flatten):
        """The weights of linear layers that alone see a flattened image, or None where something else does too.

        Their rows can be reordered once, instead of the image in every step.
        """
        weights, waiting = [], [flatten.name]
        while waiting:
            name = waiting.pop()
            if name in self._wanted:
                return None
            for user, place in self._users[name]:
                if user.op in _ELEMENTWISE:
                    waiting.append(user.name)
                elif user.op == "linear" and place == 0 and self.owns_weights(user) and not self.is_shared(user):
                    weights.append(user.inputs[1])
                else:
                    return None
        return weights

    def _of(self, names):
        return [use for name in names for use in self._users[name]]


def _alike(one, other):
    return one.op == other.op and one.inputs[1:] == other.inputs[1:] and one.attributes == other.attributes
