"""Does the null adapter do nothing, and look like training while it does?"""

import unittest

import numpy as np
from small_programs import CASES, job_for, start

from netdyno_worker.adapters.null import trainer as null
from netdyno_worker.adapters.reference import trainer as reference

WIRE = CASES["network/adversarial"]


class NullAdapter(unittest.TestCase):
    def test_it_knows_every_op(self):
        self.assertEqual(null.UNSUPPORTED, {})

    def test_building_and_stepping_draw_no_weights(self):
        def refuse(name):
            raise AssertionError("the weight %s was drawn" % name)

        trainer = start(null, WIRE, initial=refuse, device="cuda", precision="bfloat16")
        trainer.step()
        trainer.wait()
        self.assertIsNone(trainer.peak_bytes())

    def test_its_losses_are_finite_and_fall(self):
        trainer = start(null, WIRE)
        seen = []
        for _ in range(3):
            trainer.step()
            seen.append(trainer.read("losses"))
        self.assertEqual(seen[0], {"judge": 0.5, "maker": 0.5})
        self.assertGreater(seen[0]["judge"], seen[1]["judge"])
        self.assertGreater(seen[1]["judge"], seen[2]["judge"])

    def test_its_parameters_stay_the_initial_ones(self):
        trainer, job = start(null, WIRE), job_for(WIRE)
        trainer.step()
        found = trainer.read("parameters")
        self.assertEqual(sorted(found), sorted(p.name for p in job.program.parameters))
        for name, value in found.items():
            np.testing.assert_array_equal(value, job.initial(name))

    def test_its_outputs_and_gradients_have_the_reference_shapes(self):
        nothing, true = start(null, WIRE), start(reference, WIRE)
        for what in ("outputs", "gradients"):
            expected = {name: value.shape for name, value in true.read(what).items()}
            self.assertEqual({name: value.shape for name, value in nothing.read(what).items()}, expected)


if __name__ == "__main__":
    unittest.main()
