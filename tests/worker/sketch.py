"""How a test writes down a graph in its wire form, piece by piece."""

import json
import os

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "op_facts.json")) as file:
    FACTS = json.load(file)  # of the host's ops, for Pythons that cannot import the host

SGD = {"kind": "sgd", "learning_rate": 0.1}
MOMENTUM = {"kind": "momentum", "learning_rate": 0.05, "momentum": 0.9}
ADAM = {"kind": "adam", "learning_rate": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}


class Sketch(object):
    """Collects a graph piece by piece; every method that adds a value returns its name."""

    def __init__(self):
        self.graph = {"inputs": [], "parameters": [], "nodes": [], "outputs": []}
        self.updates = []

    def input(self, name, shape, low=-1.0, high=1.0, kind="uniform"):
        draw = {"kind": kind, "low": low, "high": high}
        dtype = "integer" if kind == "integers" else "float"
        self.graph["inputs"].append(
            {"name": name, "shape": list(shape), "draw": draw, "kind": _kind(shape), "dtype": dtype}
        )
        return name

    def parameter(self, name, shape, low=-1.0, high=1.0, trainable=True, draw="uniform"):
        draw = {"kind": draw, "low": low, "high": high}
        kernel = len(shape) == 4 and name.endswith("weight")
        self.graph["parameters"].append(
            {
                "name": name,
                "shape": list(shape),
                "initial": draw,
                "trainable": trainable,
                "kind": "kernel" if kernel else _kind(shape),
            }
        )
        return name

    def node(self, name, op, inputs, result, **attributes):
        self.graph["nodes"].append(
            {
                "name": name,
                "op": op,
                "inputs": list(inputs),
                "shape": list(result),
                "kind": attributes.get("kind", _kind(result)),
                "attributes": attributes,
            }
        )
        return name

    def state(self, name, channels):
        """The four vectors of a batch norm."""
        return [
            self.parameter(name + ".scale", [channels], 0.5, 1.5),
            self.parameter(name + ".shift", [channels], -0.5, 0.5),
            self.parameter(name + ".running_mean", [channels], 0.0, 0.0, trainable=False),
            self.parameter(name + ".running_variance", [channels], 1.0, 1.0, trainable=False),
        ]

    def update(self, loss, optimizer, parameters=None, name="train"):
        """Without `parameters`: every trainable one."""
        trainable = [p["name"] for p in self.graph["parameters"] if p["trainable"]]
        whole = dict({"momentum": 0.9, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}, **optimizer)
        self.updates.append({"name": name, "loss": loss, "parameters": parameters or trainable, "optimizer": whole})

    def wire(self, *outputs):
        stages = [{"name": "train", "updates": self.updates}] if self.updates else []
        used = {node["op"] for node in self.graph["nodes"]}
        return {
            "format": 2,
            "graph": dict(self.graph, outputs=list(outputs)),
            "stages": stages,
            "facts": {op: FACTS[op] for op in used if op in FACTS},
        }


def _kind(shape):
    """In these graphs every value with four axes that is no kernel is an image."""
    return "image" if len(shape) == 4 else "plain"
