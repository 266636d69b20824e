"""Are pictures what a network made, byte for byte, and does a training count when none could be made?"""

import base64
import unittest

import numpy as np
from packing import numbered, pack
from sketch import SGD, Sketch
from test_learn import PLAN, RULE, WithFiles, fields_of

from netdyno_worker.adapters.reference import trainer as reference
from netdyno_worker.pictures import pixels_of
from netdyno_worker.tasks import learn

PLAIN = {"mean": [0.0], "std": [1.0]}


def scaled(weight, output="made", batch=8):
    """Says 4x4 images again, times a weight; the loss is how far they are from the images."""
    sketch = Sketch()
    sketch.input("images", [batch, 1, 4, 4], kind="normal")
    sketch.parameter("weight", [1], weight, weight)
    sketch.node("flat", "flatten", ["images"], [batch, 16])
    sketch.node("made", "multiply", ["flat", "weight"], [batch, 16])
    sketch.node("loss", "mean_squared_error", ["made", "flat"], [])
    sketch.update("loss", dict(SGD, learning_rate=0.0))
    return sketch.wire(output)


def bytes_of(text):
    return np.frombuffer(base64.b64decode(text), np.uint8)


class Pixels(unittest.TestCase):
    def test_what_the_transforms_made_of_every_byte_is_undone(self):
        every = np.arange(256, dtype=np.uint8).reshape(1, 1, 16, 16)
        for mean, std in ((0.0, 1.0), (0.5, 0.5), (0.1307, 0.3081)):
            values = (every / 255.0 - mean) / std
            found = pixels_of(values.astype(np.float32), {"mean": [mean], "std": [std]})
            np.testing.assert_array_equal(found[..., 0], every[0])

    def test_logits_go_through_a_sigmoid(self):
        values = np.array([-1e9, -np.log(3.0), 0.0, 1e9]).reshape(1, 1, 2, 2)
        self.assertEqual(pixels_of(values, PLAIN, logits=True).ravel().tolist(), [0, 64, 128, 255])

    def test_numbers_beyond_the_pixels_are_black_or_white(self):
        values = np.array([-3.0, 7.0, np.inf, np.nan]).reshape(1, 1, 2, 2)
        self.assertEqual(pixels_of(values, PLAIN).ravel().tolist(), [0, 255, 255, 0])

    def test_channels_are_side_by_side_in_a_pixel(self):
        values = np.array([0.0, 0.2, 1.0]).reshape(1, 3, 1, 1)
        rule = {"mean": [0.0] * 3, "std": [1.0] * 3}
        self.assertEqual(pixels_of(values, rule).tolist(), [[[[0, 51, 255]]]])

    def test_of_large_pictures_every_other_pixel_is_sent(self):
        values = np.zeros((1, 1, 100, 70))
        values[:, :, ::2, ::2] = 1.0
        found = pixels_of(values, PLAIN)
        self.assertEqual((found.shape, found.min()), ((1, 50, 35, 1), 255))


class Task(WithFiles):
    def test_a_network_that_says_its_input_again_gives_pictures_equal_to_the_images(self):
        drawn = self._pictures(scaled(1.0))["drawn"]
        self.assertEqual(drawn["made"], drawn["images"])
        np.testing.assert_array_equal(bytes_of(drawn["images"]), numbered(11)[0][:5].ravel())
        shape = [drawn[name] for name in ("height", "width", "channels")]
        self.assertEqual((shape, drawn["sees_images"]), ([4, 4, 1], True))

    def test_another_network_gives_others(self):
        drawn = self._pictures(scaled(0.5), mean=[0.0])["drawn"]
        halved = np.rint(numbered(11)[0][:5].ravel() * 0.5)
        np.testing.assert_allclose(bytes_of(drawn["made"]), halved, atol=1)

    def test_of_a_small_test_split_each_image_is_shown_once(self):
        drawn = self._pictures(scaled(1.0), test=3)["drawn"]
        self.assertEqual(len(bytes_of(drawn["made"])), 3 * 16)

    def test_a_training_counts_without_the_pictures_that_could_not_be_made(self):
        events = self._learn(dict(scaled(1.0), format=99))
        (pictures,) = fields_of(events, "pictures")
        self.assertIn("ValueError: expected a graph of format", pictures["absent"])
        self.assertEqual(len(fields_of(events, "trained")), 1)

    def test_pictures_come_when_everything_is_measured(self):
        self.assertEqual([name for name, _ in self._learn(scaled(1.0))][-3:], ["trained", "memory", "pictures"])

    def test_nobody_is_sent_pictures_without_asking(self):
        self.assertEqual(fields_of(self._learn(None), "pictures"), [])

    def _pictures(self, programme, **changes):
        (pictures,) = fields_of(self._learn(programme, **changes), "pictures")
        return pictures

    def _learn(self, programme, test=11, mean=RULE["mean"]):
        pack(self.paths["train"], *numbered(20))
        pack(self.paths["test"], *numbered(test))
        asked = {"programme": programme, "images": "images", "logits": False, "sees_images": True, "count": 5}
        plan = dict(PLAN, logits=None, losses=["loss"], steps=2, pictures=asked if programme else None, **self.paths)
        plan["transforms"] = dict(RULE, mean=mean)
        request = {"device": "cpu", "precision": "float32", "execution": "eager", "threads": 1, "seed": 1}
        trained = dict(programme if programme else scaled(1.0, "loss"), format=2)
        trained["graph"] = dict(trained["graph"], outputs=["loss"])
        request.update(programme=trained, plan=plan)
        events = []
        learn.run(reference, request, lambda event, **fields: events.append((event, fields)))
        return events


if __name__ == "__main__":
    unittest.main()
