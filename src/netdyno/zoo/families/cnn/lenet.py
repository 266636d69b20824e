"""LeNet-5 (LeCun et al. 1998, figure 2), with fully connected maps in the second convolution."""

from netdyno.zoo.builder import Net, Value


def lenet(net: Net, images: Value) -> Value:
    x = net.convolution(images, 6, 5, pad=2)
    x = net.mean_pool(net.tanh(x), 2, 2)
    x = net.convolution(x, 16, 5)
    x = net.mean_pool(net.tanh(x), 2, 2)
    x = net.flatten(x)
    x = net.tanh(net.linear(x, 120, name="fc3"))
    x = net.tanh(net.linear(x, 84, name="fc4"))
    return net.classifier(x, name="fc5")
