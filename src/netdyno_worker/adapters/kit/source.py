"""How a program becomes straight-line Python source: one assignment per node, every argument already a literal.

Nothing of the graph is walked in a step: at small batches each microsecond of Python shows.
"""

import linecache
from collections import Counter, OrderedDict

from netdyno_worker.adapters.kit.sharing import without_repeats
from netdyno_worker.program import nodes_for


class Outline(object):
    """What a function of `targets` consists of; a list of names gives a function that returns a tuple.

    nodes: those to compute, in order. leaves: the inputs and then the parameters they start from. inputs: the inputs
    among these. used: {value: how many nodes and results read it}.
    """

    def __init__(self, program, targets):
        self._is_single = isinstance(targets, str)
        self._wanted = [targets] if self._is_single else list(targets)
        self.nodes = without_repeats(program, nodes_for(program, self._wanted), self._wanted)
        self.used = Counter(name for node in self.nodes for name in node.inputs) + Counter(self._wanted)
        self.inputs = [value.name for value in program.inputs if value.name in self.used]
        self.leaves = self.inputs + [value.name for value in program.parameters if value.name in self.used]
        names = self.leaves + [node.name for node in self.nodes]
        self._variables = {name: "v%d" % i for i, name in enumerate(names)}

    def text(self, express):
        """Source of `compute(values)`, where `values` are those of the leaves.

        `express(node, variables of its inputs)` gives a node's expression. A value is deleted after its last use: a
        local variable would hold its memory until the function returns.
        """
        lines = ["def compute(values):", "    %s = values" % "".join(self._variables[n] + ", " for n in self.leaves)]
        for node, unused in zip(self.nodes, self._last_uses()):
            lines.append(self._assignment(node, express))
            if unused:
                lines.append("    del " + ", ".join(self._variables[name] for name in unused))
        return self._joined(lines)

    def method_text(self, express):
        """Source of `compute(self, inputs…)`, where parameters are attributes of `self` named as variables are."""
        variables = [self._variables[name] for name in self.leaves]
        count = len(self.inputs)
        lines = ["def compute(%s):" % ", ".join(["self"] + variables[:count])]
        lines += ["    %s = self.%s" % (name, name) for name in variables[count:]]
        return self._joined(lines + [self._assignment(node, express) for node in self.nodes])

    def variable(self, name):
        """What a value is called in the source."""
        return self._variables[name]

    def _assignment(self, node, express):
        expression = express(node, [self._variables[name] for name in node.inputs])
        return "    %s = %s  # %s" % (self._variables[node.name], expression, node.name)

    def _joined(self, lines):
        results = ", ".join(self._variables[name] for name in self._wanted)
        lines.append("    return " + (results if self._is_single else "(%s,)" % results))
        return "\n".join(lines) + "\n"

    def _last_uses(self):
        """For each node, the earlier nodes that nothing after it reads."""
        produced = {node.name for node in self.nodes}
        seen = set(self._wanted)
        found = []
        for node in reversed(self.nodes):
            last = [name for name in OrderedDict.fromkeys(node.inputs) if name in produced and name not in seen]
            seen.update(last)
            found.append(last)
        return found[::-1]


def execute(text, namespace):
    """The function `compute` that the source defines; its lines are kept where tracebacks look for them."""
    filename = "<network %d>" % len(linecache.cache)
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), namespace)
    return namespace["compute"]
