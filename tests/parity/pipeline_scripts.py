"""What a framework is asked to do with its input pipeline; run by its own interpreter, beside `asked.json`."""

PREAMBLE = """
import json, os, sys, time
sys.path[:0] = {paths!r}
import numpy as np
from netdyno_worker.contract import Files, Unsupported, load_adapter
from small_programs import job_for
adapter = load_adapter("{adapter}")

def opened(asked):
    trainer = adapter.build(job_for(asked["wire"])._replace(execution={execution!r}, threads=2))
    try:
        return trainer, trainer.pipeline(Files(**asked["files"]))
    except Unsupported as reason:
        print(json.dumps({{"unsupported": str(reason)}}))
        sys.exit()

cases = {{asked["name"]: asked for asked in json.load(open("asked.json"))}}
"""

FEED = """
said = {}
for name in sorted(set(cases) - {"damaged"}):
    trainer, pipeline = opened(cases[name])
    images, labels = [], []
    for _ in range(cases[name]["batches"]):
        pipeline.feed()
        images.append(trainer.read("outputs")["seen"])
        labels.append(trainer.read("gradients")["train/bias"].argmin(axis=1))
        trainer.step()
    trainer.wait()
    pipeline.skip()
    pipeline.close()
    said[name] = {"notes": pipeline.notes, "seconds": pipeline.seconds()}
    np.savez(name + ".npz", images=np.concatenate(images), labels=np.concatenate(labels))
print(json.dumps(said))
"""

CLOSE = """
def parent(name):
    try:
        return int(open("/proc/%s/stat" % name).read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None  # it has just ended

def alive():
    parents = [parent(name) for name in os.listdir("/proc") if name.isdigit()]
    return parents.count(os.getpid()), len(os.listdir("/proc/self/task"))

def soon_alive(allowed):
    for _ in range(150):  # what was told to end has a moment for it, on a busy machine a long one
        if alive() <= allowed:
            break
        time.sleep(0.1)
    return alive()

said = [(0, 10 ** 6)]
trainer, pipeline = opened(cases["whole"])
pipeline.close()
for _ in range(4):
    pipeline = trainer.pipeline(Files(**cases["whole"]["files"]))
    pipeline.feed()
    trainer.wait()
    pipeline.close()
    said.append(soon_alive(min(said)))
print(json.dumps(said[1:]))
"""

OPEN = """
opened(cases["whole"])
print(json.dumps({}))
"""

# Takes away what a build or an environment may lack.
LACKING_LIBRARIES = """
from netdyno_worker.adapters.cntk import pipeline
pipeline.LIBRARIES = ("libnone.so.0",)
"""

LACKING_DATABASES = """
from netdyno_worker.adapters.caffe import pipeline
pipeline._loaded = lambda: ""
"""

LACKING_OPENCV = """
import mxnet
del mxnet.io.ImageRecordIter
"""

LACKING_PILLOW = """
sys.modules["PIL"] = None
"""

FEED_DAMAGED = """
trainer, pipeline = opened(cases["damaged"])
try:
    for _ in range(10):
        pipeline.feed()
        trainer.wait()
except Exception as error:
    pipeline.close()
    print(json.dumps({"error": str(error)}))
"""
