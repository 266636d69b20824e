"""How do public packages read and write records of images: LMDB, TFRecord and RecordIO?"""

import glob
import os

from formats_files import Sum, images, shards, sync

A_COMMIT = 1000  # as Caffe's convert_imageset does
MAP_BYTES = 1 << 40  # the customary terabyte: the file is as large as what is in it
SHARD = "train-{number:05d}-of-{count:05d}"
FEATURES = ("image/encoded", "image/class/label", "image/filename", "image/format")


def lmdb_write(source, target, a_commit=1 << 62):
    """All in one transaction."""
    import lmdb

    Datum = datum_class()  # noqa: N806

    def job():
        environment = lmdb.open(os.path.join(target, "train_lmdb"), map_size=MAP_BYTES)
        transaction = environment.begin(write=True)
        for index, (name, label, encoded) in enumerate(images(source)):
            datum = Datum(data=encoded, label=label, encoded=True)
            transaction.put(b"%08d_%s" % (index, name.encode()), datum.SerializeToString())
            if (index + 1) % a_commit == 0:
                transaction.commit()
                transaction = environment.begin(write=True)
        transaction.commit()
        environment.close()

    return job


def lmdb_1000_write(source, target):
    return lmdb_write(source, target, A_COMMIT)


def lmdb_read(source, target):
    import lmdb

    Datum = datum_class()  # noqa: N806

    def job():
        seen = Sum()
        environment = lmdb.open(os.path.join(source, "train_lmdb"), readonly=True, lock=False)
        with environment.begin() as transaction:
            for _, value in transaction.cursor():
                datum = Datum.FromString(value)
                seen.add(datum.data, datum.label)
        environment.close()
        return seen.found()

    return job


def datum_class():
    """Caffe's message, as far as images need it."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="datum.proto", package="caffe")
    message = file.message_type.add(name="Datum")
    kinds = (
        ("channels", 1, 5),
        ("height", 2, 5),
        ("width", 3, 5),
        ("data", 4, 12),
        ("label", 5, 5),
        ("encoded", 7, 8),
    )
    for name, number, kind in kinds:
        message.field.add(name=name, number=number, type=kind, label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("caffe.Datum"))


def tfrecord_write(source, target):
    from tfrecord.writer import TFRecordWriter

    def job():
        for path, some in shards(source, os.path.join(target, SHARD)):
            writer = TFRecordWriter(path)
            for name, label, encoded in some:
                values = ((encoded, "byte"), (label, "int"), (name.encode(), "byte"), (b"JPEG", "byte"))
                writer.write(dict(zip(FEATURES, values, strict=True)))
            writer.close()
        sync(os.path.join(target, "train-*"))

    return job


def tfrecord_read(source, target):
    from tfrecord import tfrecord_loader

    def job():
        seen = Sum()
        for path in sorted(glob.glob(os.path.join(source, "train-*-of-*"))):
            for record in tfrecord_loader(path, None, {"image/encoded": "byte", "image/class/label": "int"}):
                seen.add(record["image/encoded"], record["image/class/label"][0])
        return seen.found()

    return job


def tensorflow_write(source, target):
    import tensorflow as tf

    def feature(value):
        if isinstance(value, int):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    def job():
        for path, some in shards(source, os.path.join(target, SHARD)):
            with tf.io.TFRecordWriter(path) as writer:
                for name, label, encoded in some:
                    features = dict(
                        zip(FEATURES, map(feature, (encoded, label, name.encode(), b"JPEG")), strict=True)
                    )
                    example = tf.train.Example(features=tf.train.Features(feature=features))
                    writer.write(example.SerializeToString())
        sync(os.path.join(target, "train-*"))

    return job


def tensorflow_read(source, target):
    import tensorflow as tf

    kinds = {
        "image/encoded": tf.io.FixedLenFeature([], tf.string),
        "image/class/label": tf.io.FixedLenFeature([], tf.int64),
    }

    def job():
        seen = Sum()
        records = tf.data.TFRecordDataset(sorted(glob.glob(os.path.join(source, "train-*-of-*"))))
        for some in records.batch(256).map(lambda batch: tf.io.parse_example(batch, kinds)).as_numpy_iterator():
            for encoded, label in zip(some["image/encoded"], some["image/class/label"], strict=True):
                seen.add(encoded, label)
        return seen.found()

    return job


def mxnet_write(source, target):
    from mxnet import recordio

    def job():
        paths = [os.path.join(target, "train." + suffix) for suffix in ("idx", "rec")]
        records = recordio.MXIndexedRecordIO(paths[0], paths[1], "w")
        for index, (_, label, encoded) in enumerate(images(source)):
            records.write_idx(index, recordio.pack(recordio.IRHeader(0, float(label), index, 0), encoded))
        records.close()
        sync(os.path.join(target, "train.*"))

    return job


def mxnet_read(source, target):
    from mxnet import recordio

    def job():
        seen = Sum()
        paths = [os.path.join(source, "train." + suffix) for suffix in ("idx", "rec")]
        records = recordio.MXIndexedRecordIO(paths[0], paths[1], "r")
        for index in records.keys:
            header, encoded = recordio.unpack(records.read_idx(index))
            seen.add(encoded, header.label)
        records.close()
        return seen.found()

    return job
