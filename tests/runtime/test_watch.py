"""What the host knows of the CPU time that it caused: only the rest of the machine's is foreign."""

import subprocess
import sys

from netdyno.runtime.watch import used_s

BURN = "import time\nwhile time.process_time() < 0.6: pass\nprint(flush=True)\ninput()"


def test_a_childs_time_is_ours_while_it_lives_and_counted_once_when_it_has_ended():
    before = used_s()
    with subprocess.Popen([sys.executable, "-c", BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        living = used_s() - before
        child.communicate(b"\n")
    ended = used_s() - before
    assert living > 0.5
    assert living - 0.02 <= ended < living + 0.3
