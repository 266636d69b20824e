"""Where each operator runs: on one CUDA device, or on the CPU, plainly or through IDEEP (MKL-DNN).

IDEEP has operators of its own over tensors of its own, and lacks many. So a net is written without devices, gradients
included, and then its operators are placed one by one, with copies between the two kinds of tensors where needed.
"""

import re

from caffe2.proto import caffe2_pb2
from caffe2.python import core

CPU, IDEEP, CUDA = caffe2_pb2.CPU, caffe2_pb2.IDEEP, caffe2_pb2.CUDA

# Always through IDEEP, with their gradients: they are what IDEEP makes faster.
_LEAD = ("Conv", "SpatialBN", "LRN", "MaxPool", "AveragePool")
# Wherever their first input is; likewise. Not Dropout: IDEEP's draws the same mask in every step.
# Not Tanh and Sigmoid: there they are the CPU's operators in a wrapper, and slower.
_FOLLOW = ("Relu", "Sum", "Concat", "Split")
# What IDEEP's operators still read and write as tensors of the CPU, by position.
_CPU_INPUTS = {"Split": (1,)}
_CPU_OUTPUTS = {"Concat": (1,)}
_RANDOM = ("Dropout", "UniformFill", "GaussianFill")


class Placement(object):
    """Places nets one after another; a fed blob stays on the device on which it was first read, its home."""

    def __init__(self, kinds, learnt, seed):
        """`kinds` is the device of everything, or the two to choose from.

        What is `learnt` lives on the CPU: IDEEP's optimizer takes the gradient's memory in whatever order it lies,
        and the gradients of its convolutions lie in blocks.
        """
        self._kinds = kinds
        self._seed = seed
        self._homes = {blob: kinds[0] for blob in learnt}

    def place(self, proto):
        """Give each operator its device, and say what each blob is called when the net has run: {blob: name}."""
        operators = [type(o).FromString(o.SerializeToString()) for o in proto.op]
        del proto.op[:]
        walk = _Walk(proto, self._homes)
        for operator in operators:
            walk.add(operator, self._choose(operator, walk))
            self._seed_last(proto)
        walk.bring_home()
        del proto.external_input[:], proto.external_output[:]  # they name blobs without devices
        return walk.names()

    def name(self, blob):
        """What a fed blob is called on its home device."""
        return _name(blob, self.option(blob).device_type)

    def option(self, blob):
        """The device on which a blob is to be fed."""
        return core.DeviceOption(self._homes.setdefault(blob, self._kinds[0]))

    def _choose(self, operator, walk):
        if IDEEP not in self._kinds:
            return self._kinds[0]
        kind = re.sub("Gradient$", "", operator.type)
        if kind in _LEAD:
            return IDEEP if _has_even_padding(operator) else CPU
        return IDEEP if kind in _FOLLOW and walk.is_on(operator.input[0], IDEEP) else CPU

    def _seed_last(self, proto):
        if proto.op[-1].type in _RANDOM:
            self._seed += 1
            proto.op[-1].device_option.random_seed = self._seed


class _Walk(object):
    """One pass over a net's operators, knowing where each blob's present value is."""

    def __init__(self, proto, homes):
        self._proto = proto
        self._homes = homes
        self._places = {blob: {device} for blob, device in homes.items()}

    def is_on(self, blob, device):
        return device in self._places.get(blob, ())

    def add(self, operator, device):
        fixed_inputs = _CPU_INPUTS.get(operator.type, ()) if device == IDEEP else ()
        fixed_outputs = _CPU_OUTPUTS.get(operator.type, ()) if device == IDEEP else ()
        for position, blob in enumerate(operator.input):
            operator.input[position] = self._bring(blob, CPU if position in fixed_inputs else device)
        for position, blob in enumerate(operator.output):
            place = CPU if position in fixed_outputs else device
            self._places[blob] = {place}
            operator.output[position] = _name(blob, place)
        operator.device_option.CopyFrom(core.DeviceOption(device))
        self._proto.op.extend([operator])

    def bring_home(self):
        """What was fed and then changed elsewhere must be back before the next run."""
        for blob, home in self._homes.items():
            if home not in self._places[blob]:
                self._bring(blob, home)

    def names(self):
        return {blob: _name(blob, min(places)) for blob, places in self._places.items()}

    def _bring(self, blob, device):
        if blob not in self._places:
            self._homes[blob] = device
            self._places[blob] = {device}
        if device not in self._places[blob]:
            kind = "CopyCPUToIDEEP" if device == IDEEP else "CopyIDEEPToCPU"
            (source,) = self._places[blob]
            copy = core.CreateOperator(
                kind, [_name(blob, source)], [_name(blob, device)], device_option=core.DeviceOption(IDEEP)
            )
            self._proto.op.extend([copy])
            self._places[blob].add(device)
        return _name(blob, device)


def _name(blob, device):
    """The same value has a blob of its own on each device."""
    return blob + "@ideep" if device == IDEEP else blob


def _has_even_padding(operator):
    """IDEEP's convolutions know one padding for both sides."""
    if not operator.type.startswith("Conv"):
        return True
    pads = {argument.name: argument.i for argument in operator.arg if argument.name.startswith("pad_")}
    return pads.get("pad_t") == pads.get("pad_b") and pads.get("pad_l") == pads.get("pad_r")
