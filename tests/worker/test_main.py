"""How a worker finds its task and its adapter, and where it computes."""

import os
import shutil
import sys
import tempfile
import unittest

from netdyno_worker import adapters
from netdyno_worker.contract import Unsupported, load_adapter
from netdyno_worker.main import find_task, keep_to_cpus
from netdyno_worker.tasks import fit


class MainTest(unittest.TestCase):
    def test_a_task_is_found_by_its_name(self):
        self.assertIs(find_task("fit"), fit)

    def test_a_task_that_is_not_here_is_unsupported(self):
        with self.assertRaisesRegex(Unsupported, "no task 'nothing'"):
            find_task("nothing")

    def test_an_empty_list_of_cpus_restricts_nothing(self):
        before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
        keep_to_cpus([])
        after = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
        self.assertEqual(before, after)


class AdapterTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        adapters.__path__.append(self.folder)

    def tearDown(self):
        adapters.__path__.remove(self.folder)
        shutil.rmtree(self.folder)
        for name in [name for name in sys.modules if name.startswith("netdyno_worker.adapters.sample_")]:
            del sys.modules[name]

    def write(self, *path):
        target = os.path.join(self.folder, *path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w") as file:
            file.write("UNSUPPORTED = {}\n")

    def test_an_adapter_may_be_a_module(self):
        self.write("sample_module.py")
        self.assertEqual(load_adapter("sample_module").UNSUPPORTED, {})

    def test_an_adapter_may_be_a_folder_with_a_trainer(self):
        self.write("sample_folder", "__init__.py")
        self.write("sample_folder", "trainer.py")
        self.assertEqual(load_adapter("sample_folder").__name__, "netdyno_worker.adapters.sample_folder.trainer")


if __name__ == "__main__":
    unittest.main()
