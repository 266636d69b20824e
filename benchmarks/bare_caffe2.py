"""How fast is Caffe2 without any harness? Hand-written models over brew, to hold the adapter against.

    echo 100 | python benchmarks/bare_caffe2.py --network lenet --dataset mnist --batch 64

prints the seconds that a hundred steps took; see blocks.py.
"""

import numpy as np
from blocks import read_options, serve
from caffe2.proto import caffe2_pb2
from caffe2.python import brew, core, model_helper, optimizer, workspace

IDEEP = core.DeviceOption(caffe2_pb2.IDEEP)  # MKL-DNN; many times faster than the plain operators
TRAINING = {"order": "NCHW", "training_mode": 1}  # the second is for IDEEP, whose gradients need it


def lenet(model, images):
    x = brew.conv(model, images, "conv1", 1, 6, kernel=5, pad=2, no_gradient_to_input=1, **TRAINING)
    x = brew.average_pool(model, model.net.Tanh(x, x), "pool1", kernel=2, stride=2, **TRAINING)
    x = brew.conv(model, x, "conv2", 6, 16, kernel=5, **TRAINING)
    x = brew.average_pool(model, model.net.Tanh(x, x), "pool2", kernel=2, stride=2, **TRAINING)
    x = brew.fc(model, x, "fc3", 400, 120)
    x = brew.fc(model, model.net.Tanh(x, x), "fc4", 120, 84)
    return brew.fc(model, model.net.Tanh(x, x), "fc5", 84, 10)


def alexnet(model, images):
    x = convolve(model, images, "conv1", (3, 64), kernel=11, stride=4, pad=5, no_gradient_to_input=1)
    x = brew.max_pool(model, x, "pool1", kernel=2, stride=2, **TRAINING)
    x = convolve(model, x, "conv2", (64, 192), kernel=5, pad=2)
    x = brew.max_pool(model, x, "pool2", kernel=2, stride=2, **TRAINING)
    x = convolve(model, x, "conv3", (192, 384), kernel=3, pad=1)
    x = convolve(model, x, "conv4", (384, 256), kernel=3, pad=1)
    x = convolve(model, x, "conv5", (256, 256), kernel=3, pad=1)
    x = brew.max_pool(model, x, "pool5", kernel=2, stride=2, **TRAINING)
    return brew.fc(model, x, "fc6", 256, 10)


def convolve(model, x, name, channels, **window):
    x = brew.conv(model, x, name, channels[0], channels[1], **dict(TRAINING, **window))
    return brew.relu(model, x, x)


# (network, dataset): its function, parameter count, image shape
CASES = {
    ("lenet", "mnist"): (lenet, 61_706, (1, 28, 28)),
    ("alexnet", "cifar10"): (alexnet, 2_472_266, (3, 32, 32)),
}


def make_net(options):
    """The name of a net whose run is one step on a batch that stays in the workspace."""
    network, count, shape = CASES[options.network, options.dataset]
    device = IDEEP if options.device == "cpu" else core.DeviceOption(caffe2_pb2.CUDA)
    draw = np.random.RandomState(1)
    images = draw.uniform(size=(options.batch, *shape)).astype(np.float32)
    workspace.FeedBlob("images", images, device)
    workspace.FeedBlob("labels", draw.randint(10, size=options.batch).astype(np.int32), device)
    with core.DeviceScope(device):
        model = model_helper.ModelHelper(name="train")
        softmax = brew.softmax(model, network(model, "images"), "softmax")
        loss = model.net.AveragedLoss(model.net.LabelCrossEntropy([softmax, "labels"], "entropies"), "loss")
        model.AddGradientOperators([loss])
        if options.device == "cuda":
            optimizer.build_sgd(model, base_learning_rate=0.01, policy="fixed", momentum=0.9)
            model.net.Proto().type = "async_scheduling"
    workspace.RunNetOnce(model.param_init_net)
    parameters = sum(workspace.FetchBlob(parameter).size for parameter in model.params)
    assert parameters == count, f"expected {count} parameters, received {parameters}"
    if options.device == "cpu":
        add_updates(model)
    workspace.CreateNet(model.net)
    return model.net.Proto().name


def add_updates(model):
    """Update copies on the CPU: IDEEP's own update mixes up the elements of a convolution's weights."""
    workspace.FeedBlob("rate", np.float32([0.01]))
    for parameter in model.params:
        master, velocity = parameter + "_master", parameter + "_velocity"
        workspace.FeedBlob(master, workspace.FetchBlob(parameter))
        workspace.FeedBlob(velocity, np.zeros_like(workspace.FetchBlob(parameter)))
        gradient = parameter + "_gradient"
        add_copy(model, "CopyIDEEPToCPU", model.param_to_grad[parameter], gradient)
        changed = [gradient, velocity, master]
        model.net.MomentumSGDUpdate([gradient, velocity, "rate", master], changed, momentum=0.9, nesterov=0)
        add_copy(model, "CopyCPUToIDEEP", master, parameter)


def add_copy(model, kind, source, target):
    """The only operators that a net has no method for."""
    copy = core.CreateOperator(kind, [source], [target], device_option=IDEEP)
    model.net.Proto().op.extend([copy])


def main() -> None:
    options = read_options(CASES)
    threads = ["--caffe2_omp_num_threads=%d", "--caffe2_mkl_num_threads=%d"]
    core.GlobalInit(["caffe2", *(flag % options.threads for flag in threads)])
    name = make_net(options)
    serve(lambda: workspace.RunNet(name), lambda: None)


if __name__ == "__main__":
    main()
