"""Is every gradient of the reference the slope of its own loss?"""

import copy
import sys
import unittest
from unittest import mock

import numpy as np
from small_programs import CASES, COMPOSITES, PRIMITIVES, job_for, start

from netdyno_worker.adapters.reference import trainer as reference
from netdyno_worker.oracle import convolution
from netdyno_worker.oracle.ops import KERNELS

NUDGE = 1e-5
AT_MOST = 40  # elements tried per parameter


class EveryGradientIsASlope(unittest.TestCase):
    def test_in_every_case_but_those_that_stop_it(self):
        for name in sorted(PRIMITIVES):
            if not name.startswith("stop_gradient/"):
                with self.subTest(case=name):
                    self._check_case(_with_losses_as_outputs(PRIMITIVES[name]))

    @unittest.skipIf(sys.version_info < (3, 11), "the host needs Python 3.11")
    def test_in_every_composite_once_it_is_lowered(self):
        from netdyno.graph.lower import lowered
        from netdyno.graph.wire import from_wire, to_wire

        for name in sorted(COMPOSITES):
            with self.subTest(case=name):
                wire = to_wire(lowered(from_wire(COMPOSITES[name]), frozenset()))
                self._check_case(_with_losses_as_outputs(wire))

    def _check_case(self, wire):
        gradients = start(reference, wire).read("gradients")
        for update in wire["stages"][0]["updates"]:
            for parameter in update["parameters"]:
                gradient = gradients[update["name"] + "/" + parameter]
                for place in _some_places(gradient):
                    slope = _slope(wire, update["loss"], parameter, place)
                    message = "%s at %r" % (parameter, place)
                    np.testing.assert_allclose(gradient[place], slope, 1e-5, 1e-9, err_msg=message)

    def test_bands_of_a_convolution_add_up_to_the_whole(self):
        wire = PRIMITIVES["convolution/asymmetric"]
        whole = start(reference, wire)
        with mock.patch.object(convolution, "COLUMN_BYTES", 1):
            banded = start(reference, wire)
            outputs, gradients = banded.read("outputs"), banded.read("gradients")
        np.testing.assert_allclose(outputs["y"], whole.read("outputs")["y"], 1e-12)
        for name, gradient in whole.read("gradients").items():
            np.testing.assert_allclose(gradients[name], gradient, 1e-10, 1e-15)


class Vocabulary(unittest.TestCase):
    @unittest.skipIf(sys.version_info < (3, 11), "the host needs Python 3.11")
    def test_every_primitive_has_a_kernel_and_every_composite_a_case(self):
        from netdyno.graph.ops import OPS

        composite = {name for name in OPS if OPS[name].composite}
        self.assertEqual(set(KERNELS), set(OPS) - composite)
        self.assertEqual({name.split("/")[0] for name in COMPOSITES} - {"network"}, composite)
        self.assertEqual(reference.UNSUPPORTED, {})

    @unittest.skipIf(sys.version_info < (3, 11), "the host needs Python 3.11")
    def test_the_facts_that_small_programs_carry_are_those_of_the_host(self):
        from netdyno.graph.wire import from_wire, to_wire

        for name in sorted(PRIMITIVES):
            self.assertEqual(PRIMITIVES[name]["facts"], to_wire(from_wire(PRIMITIVES[name]))["facts"])

    def test_every_op_with_a_certain_outcome_has_a_case(self):
        shown = {name.split("/")[0] for name in PRIMITIVES} - {"network"}
        self.assertEqual(sorted(set(KERNELS) - shown), ["normal"])

    @unittest.skipIf(sys.version_info < (3, 11), "the host needs Python 3.11")
    def test_every_case_is_a_sound_programme(self):
        from netdyno.graph.check import check_programme
        from netdyno.graph.wire import from_wire, to_wire

        for name in sorted(CASES):
            with self.subTest(case=name):
                programme = from_wire(CASES[name])
                check_programme(programme)
                self.assertEqual(dict(to_wire(programme), facts=CASES[name]["facts"]), CASES[name])

    def test_values_have_the_shapes_the_graph_says(self):
        for name in sorted(PRIMITIVES):
            wire = copy.deepcopy(PRIMITIVES[name])
            nodes = {node["name"]: tuple(node["shape"]) for node in wire["graph"]["nodes"]}
            wire["graph"]["outputs"] = sorted(nodes)
            values = start(reference, wire).read("outputs")
            with self.subTest(case=name):
                self.assertEqual({node: value.shape for node, value in values.items()}, nodes)


def _with_losses_as_outputs(wire):
    wire = copy.deepcopy(wire)
    wire["graph"]["outputs"] = [update["loss"] for update in wire["stages"][0]["updates"]]
    return wire


def _some_places(array):
    chosen = np.random.RandomState(0).permutation(array.size)[:AT_MOST]
    return [np.unravel_index(flat, array.shape) for flat in chosen]


def _slope(wire, loss, parameter, place):
    up, down = (_nudged_loss(wire, loss, parameter, (place, way)) for way in (NUDGE, -NUDGE))
    return (up - down) / (2 * NUDGE)


def _nudged_loss(wire, loss, parameter, change):
    usual = job_for(wire).initial

    def initial(name):
        value = usual(name).astype(np.float64)
        if name == parameter:
            value[change[0]] += change[1]
        return value

    return start(reference, wire, initial=initial).read("outputs")[loss]


if __name__ == "__main__":
    unittest.main()
