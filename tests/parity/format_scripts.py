"""What a framework is asked to do with files in the folder that it is started in; run by its own interpreter."""

READ_RECORDIO = """
import mxnet as mx
indexed = mx.recordio.MXIndexedRecordIO("train.idx", "train.rec", "r")
running = mx.recordio.MXRecordIO("train.rec", "r")
said = []
for key in indexed.keys:
    one, other = indexed.read_idx(key), running.read()
    assert one == other
    header, image = mx.recordio.unpack(one)
    assert header.id == key and header.flag == 0
    said.append([int(header.label), hashlib.sha256(image).hexdigest()])
assert running.read() is None
print(json.dumps(said))
"""

DECODE_RECORDIO = """
import mxnet as mx
records = mx.recordio.MXIndexedRecordIO("train.idx", "train.rec", "r")
images = [mx.recordio.unpack(records.read_idx(key))[1] for key in records.keys]
np.savez("decoded.npz", **{str(i): mx.image.imdecode(image, flag=1).asnumpy() for i, image in enumerate(images)})
print(json.dumps(None))
"""

ITERATE_RECORDIO = """
import mxnet as mx
height, width, channels = json.loads(SHAPE)
batches = mx.io.ImageRecordIter(path_imgrec="train.rec", path_imgidx="train.idx",
    data_shape=(channels, height, width), batch_size=10, shuffle=False, preprocess_threads=2, round_batch=False)
data, labels = zip(*((b.data[0].asnumpy()[:10 - b.pad], b.label[0].asnumpy()[:10 - b.pad]) for b in batches))
np.savez("batches.npz", data=np.concatenate(data).astype(np.uint8), labels=np.concatenate(labels))
print(json.dumps(None))
"""

WRITE_RECORDIO = """
import mxnet as mx
records = mx.recordio.MXIndexedRecordIO("train.idx", "train.rec", "w")
with np.load("images.npz") as images:
    for index, label in enumerate(images["labels"]):
        header = mx.recordio.IRHeader(0, float(label), index, 0)
        records.write_idx(index, mx.recordio.pack(header, images[str(index)].tobytes()))
records.close()
print(json.dumps(None))
"""

READ_EXAMPLES = """
import glob, tensorflow as tf
v1 = getattr(tf.compat, "v1", tf)
if hasattr(v1, "disable_eager_execution"):
    v1.disable_eager_execution()
KEYS = {"image/" + name: tf.string for name in ("encoded", "filename", "format")}
KEYS["image/class/label"] = tf.int64

def parsed(record):
    found = v1.parse_single_example(record, {key: v1.FixedLenFeature([], kind) for key, kind in KEYS.items()})
    return found, v1.image.decode_image(found["image/encoded"], channels=3)

examples = v1.data.TFRecordDataset(sorted(glob.glob("train-*-of-*"))).map(parsed).make_one_shot_iterator().get_next()
said, images = [], {}
with v1.Session() as session:
    while True:
        try:
            found, image = session.run(examples)
        except tf.errors.OutOfRangeError:
            break
        name, kind = found["image/filename"].decode(), found["image/format"].decode()
        images[str(len(said))] = image
        said.append([int(found["image/class/label"]), hashlib.sha256(found["image/encoded"]).hexdigest(), name, kind])
np.savez("decoded.npz", **images)
print(json.dumps(said))
"""

WRITE_EXAMPLES = """
import tensorflow as tf
v1 = getattr(tf.compat, "v1", tf)
Feature, Features = tf.train.Feature, tf.train.Features
with np.load("images.npz") as images, v1.python_io.TFRecordWriter("train-00000-of-00001") as writer:
    for index, label in enumerate(images["labels"]):
        encoded = Feature(bytes_list=tf.train.BytesList(value=[images[str(index)].tobytes()]))
        other = Feature(float_list=tf.train.FloatList(value=[0.5, index]))
        label = Feature(int64_list=tf.train.Int64List(value=[int(label)]))
        features = Features(feature={"image/encoded": encoded, "image/class/label": label, "other": other})
        writer.write(tf.train.Example(features=features).SerializeToString())
print(json.dumps(None))
"""

READ_MAP = """
import ctypes

def lacks(library):
    try:
        ctypes.CDLL(library)
    except OSError:
        return True

missing = [name for name in ("libjpeg.so.8", "libpng12.so.0", "libtiff.so.5", "libjasper.so.1") if lacks(name)]
if missing:
    print(json.dumps(missing))
    sys.exit()
import cntk as C
from cntk.io import transforms
height, width, channels = SHAPE
scale = transforms.scale(width=width, height=height, channels=channels, interpolations="linear")
streams = C.io.StreamDefs(image=C.io.StreamDef(field="image", transforms=[scale]),
    label=C.io.StreamDef(field="label", shape=3))
source = C.io.MinibatchSource(C.io.ImageDeserializer(MAP, streams), randomize=False, max_sweeps=1)
images, labels = [], []
while True:
    batch = source.next_minibatch(100)
    if not batch:
        break
    images.append(batch[source.streams.image].asarray().reshape(-1, channels, height, width))
    labels.append(batch[source.streams.label].as_sequences(C.input_variable(3, is_sparse=True)))
labels = [np.asarray(one.todense() if hasattr(one, "todense") else one).ravel() for batch in labels for one in batch]
np.savez("batches.npz", images=np.concatenate(images), labels=np.stack(labels).argmax(axis=1))
print(json.dumps(None))
"""

READ_DATUMS = """
import caffe
from caffe.proto import caffe_pb2
said = []
with np.load("values.npz", allow_pickle=True) as values:
    for index in range(len(values.files)):
        datum = caffe_pb2.Datum.FromString(values[str(index)].tobytes())
        pixels = None if datum.encoded else caffe.io.datum_to_array(datum).tolist()
        said.append([datum.label, hashlib.sha256(datum.data).hexdigest(), bool(datum.encoded), pixels])
print(json.dumps(said))
"""

WRITE_DATUMS = """
import caffe
with np.load("images.npz") as images:
    planes = [images[str(index)] for index in range(len(images["labels"]))]
    datums = [caffe.io.array_to_datum(one, int(label)) for one, label in zip(planes, images["labels"])]
np.savez("values.npz", **{str(i): np.frombuffer(d.SerializeToString(), np.uint8) for i, d in enumerate(datums)})
print(json.dumps(None))
"""

READ_FOLDER = """
try:
    from PIL import Image
except ImportError:
    print(json.dumps("no Pillow"))
    sys.exit()
import os, torch
said, images = [], {}
for label, name in enumerate(sorted(os.listdir("train"))):
    for path in sorted(os.listdir(os.path.join("train", name))):
        with open(os.path.join("train", name, path), "rb") as file:
            encoded = file.read()
        with Image.open(os.path.join("train", name, path)) as image:
            images[str(len(said))] = torch.from_numpy(np.array(image.convert("RGB"))).numpy()
        said.append([label, hashlib.sha256(encoded).hexdigest()])
np.savez("decoded.npz", **images)
print(json.dumps(said))
"""
