"""Which values of a program are used where: what decides whether a Keras layer can own a parameter."""

from collections import defaultdict

from netdyno_worker.program import inputs_by_role, layer_places

ACTIVATIONS = ("relu", "tanh", "sigmoid")  # that a Keras layer takes by name


class Uses(object):
    """Every use of every value as (node, place among its inputs)."""

    def __init__(self, program):
        self._program = program
        self._parameters = {parameter.name for parameter in program.parameters}
        self._wanted = set(program.outputs) | {update.loss for update in program.updates}
        self._users = defaultdict(list)
        for node in program.nodes:
            for place, name in enumerate(node.inputs):
                self._users[name].append((node, place))

    def kept(self, node):
        """The inputs of a node that its layer would keep."""
        return [node.inputs[place] for place in layer_places(self._program, node)]

    def owns_weights(self, node):
        """Whether one Keras layer can own all weights of this node and compute every node that uses them."""
        own, places = self.kept(node), layer_places(self._program, node)
        if not own or len(set(own)) < len(own) or not self._parameters.issuperset(own):
            return False
        users = [use for name in own for use in self._users[name]]
        return all(place in places and self._alike(user, node) for user, place in users)

    def state(self, node):
        """The inputs of a node that steps change without learning them."""
        return [name for role, name in inputs_by_role(self._program, node) if role in self._facts(node).state]

    def owns_state(self, node):
        """Whether only this node uses its state."""
        return all(len(self._users[name]) == 1 for name in self.state(node))

    def is_shared(self, node):
        """Whether other nodes use the same weights."""
        return len(self._users[self.kept(node)[0]]) > 1

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
                if self._facts(user).elementwise and len(user.inputs) == 1:
                    waiting.append(user.name)
                elif user.op == "linear" and place == 0 and self.owns_weights(user) and not self.is_shared(user):
                    weights.append(user.inputs[1])
                else:
                    return None
        return weights

    def _facts(self, node):
        return self._program.facts[node.op]

    def _alike(self, one, other):
        same = one.op == other.op and one.attributes == other.attributes
        return same and self.kept(one) == self.kept(other)
