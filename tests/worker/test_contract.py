"""Where is an adapter found: in a folder of its own, or in one module that somebody else wrote?"""

import os
import sys
import tempfile
import unittest

from netdyno_worker import adapters
from netdyno_worker.contract import load_adapter


class LoadAdapter(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        adapters.__path__.append(self.folder)
        self.addCleanup(adapters.__path__.remove, self.folder)

    def test_an_adapter_of_the_package_is_the_trainer_in_its_folder(self):
        self.assertEqual(load_adapter("null").__name__, "netdyno_worker.adapters.null.trainer")

    def test_an_external_adapter_may_be_a_single_module(self):
        self._write("alone.py", "UNSUPPORTED = {'relu': 'alone'}")
        self.assertEqual(load_adapter("alone").UNSUPPORTED, {"relu": "alone"})

    def test_an_external_adapter_may_be_a_folder(self):
        os.mkdir(os.path.join(self.folder, "housed"))
        self._write("housed/__init__.py", "")
        self._write("housed/trainer.py", "from netdyno_worker.adapters.housed import ops\nUNSUPPORTED = ops.NONE")
        self._write("housed/ops.py", "NONE = {}")
        self.assertEqual(load_adapter("housed").UNSUPPORTED, {})

    def test_what_an_adapter_fails_to_import_is_named(self):
        self._write("broken.py", "import no_such_library")
        with self.assertRaisesRegex(ImportError, "no_such_library"):
            load_adapter("broken")

    def _write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)
        self.addCleanup(sys.modules.pop, "netdyno_worker.adapters." + name.split(".")[0].split("/")[0], None)


if __name__ == "__main__":
    unittest.main()
