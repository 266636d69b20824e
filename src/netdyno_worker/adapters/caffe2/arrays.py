"""Which Caffe2 operators compute the ops that work along axes, on values of two shapes or by lookup."""

from caffe2.python import core


def _reshape(net, blob, out, shape):
    reshaped, _ = net.Reshape(blob, [out, out + "/shape"], shape=list(shape))
    return reshaped


def _reshaped(site):
    _reshape(site.net, site.inputs[0], site.out, site.node.shape)


def _transpose(site):
    site.net.Transpose(site.inputs, site.out, axes=list(site.node.attributes["axes"]))


def _slice(site):
    axis, start, stop = (site.node.attributes[key] for key in ("axis", "start", "stop"))
    starts, ends = [0] * len(site.node.shape), [-1] * len(site.node.shape)
    starts[axis], ends[axis] = start, stop
    site.net.Slice(site.inputs, site.out, starts=starts, ends=ends)


def _concat(site):
    axis = site.node.attributes.get("axis", 1)
    site.net.Concat(site.inputs, [site.out, site.out + "/lengths"], axis=axis)


def _matmul(site):
    operator = site.net.MatMul if len(site.node.shape) == 2 else site.net.BatchMatMul
    operator(site.inputs, site.out)


def _reduced(operator):
    def rule(site):
        getattr(site.net, operator)(site.inputs, site.out, **_over(site))

    return rule


def _over(site):
    attributes = site.node.attributes
    return {"axes": sorted(attributes["axes"]), "keepdims": int(attributes["keep"])}


def _reduce_max(site):
    """By its place: the library gives each of several equal maxima the whole gradient."""
    net, out, (x,) = site.net, site.out, site.inputs
    kept = dict(_over(site), keepdims=1)
    highest = net.ReduceMax(x, out + "/highest", **kept)
    there = net.Cast(net.EQ([x, highest], out + "/equal"), out + "/there", to=core.DataType.FLOAT)
    count = net.ReduceSum(there, out + "/count", **kept)
    share = net.StopGradient(net.Div([there, count], out + "/share"), out + "/fixed_share")
    net.ReduceSum(net.Mul([x, share], out + "/shares"), out, **_over(site))


def _softmax(site):
    """The operator takes all axes from one on together, so the axis must be the last."""
    net, out, (x,) = site.net, site.out, site.inputs
    axis, last = site.node.attributes["axis"], len(site.node.shape) - 1
    if axis == last:
        net.Softmax(x, out, axis=last)
        return
    order = list(range(last + 1))
    order[axis], order[last] = last, axis
    turned = net.Transpose(x, out + "/turned", axes=order)
    net.Transpose(net.Softmax(turned, out + "/softmax", axis=last), out, axes=order)


def _add(site):
    """The library does not sum the gradients of an operator that reads one blob twice."""
    if site.inputs[0] == site.inputs[1]:
        site.net.Scale(site.inputs[:1], site.out, scale=2.0)
    elif _meets_its_like(site):
        site.net.Sum(site.inputs, site.out)
    else:
        site.net.Add(site.inputs, site.out)


def _meets_its_like(site):
    return len({site.shapes[name] for name in site.node.inputs}) == 1


def _pair(operator):
    """Not Sqr for a square: its gradient scales what it is given in place, which a sum has also passed to others."""

    def rule(site):
        a, b = site.inputs
        again = site.net.Copy(b, site.out + "/again") if a == b else b
        getattr(site.net, operator)([a, again], site.out)

    return rule


def _softplus(site):
    """max(x, 0) - log of the sigmoid of |x|, because the operator overflows.

    |x| is 2 max(x, 0) - x, so that the gradient at 0 is right too.
    """
    net, out, (x,) = site.net, site.out, site.inputs
    positive = net.Relu(x, out + "/positive")
    size = net.Sub([net.Scale(positive, out + "/doubled", scale=2.0), x], out + "/size")
    net.Sub([positive, net.Log(net.Sigmoid(size, out + "/sigmoid"), out + "/log")], out)


def _clamp(site):
    """Not Clip, whose gradient stops at the bounds; these pass it there."""
    net, out, (x,) = site.net, site.out, site.inputs
    low, high = (
        net.ConstantFill(x, out + "/" + bound, value=float(site.node.attributes[bound])) for bound in ("low", "high")
    )
    net.Min([net.Max([x, low], out + "/raised"), high], out)


def _gather(site):
    """With a gradient of the table's shape: sparse ones do not add up with those of other uses."""
    table, indices = site.inputs
    net, out = site.net, site.out
    flat = _reshape(net, indices, out + "/indices", [-1])
    _reshape(net, net.Gather([table, flat], out + "/rows", dense_gradient=True), out, site.node.shape)


def _one_hot(site):
    net, out = site.net, site.out
    flat = _reshape(net, site.inputs[0], out + "/flat", [-1])
    indices = net.Cast(flat, out + "/indices", to=core.DataType.INT64)
    classes = site.node.attributes["classes"]
    size = net.ConstantFill([], out + "/size", shape=[1], value=classes, dtype=core.DataType.INT64)
    marks = net.Cast(net.OneHot([indices, size], out + "/marks"), out + "/numbers", to=core.DataType.FLOAT)
    _reshape(net, net.StopGradient(marks, out + "/fixed"), out, site.node.shape)


def plain(operator):
    return lambda site: getattr(site.net, operator)(site.inputs, site.out)


ARRAYS = {
    "reshape": _reshaped,
    "transpose": _transpose,
    "slice": _slice,
    "concat": _concat,
    "matmul": _matmul,
    "reduce_sum": _reduced("ReduceSum"),
    "reduce_mean": _reduced("ReduceMean"),
    "reduce_max": _reduce_max,
    "softmax": _softmax,
    "add": _add,
    "subtract": _pair("Sub"),
    "multiply": _pair("Mul"),
    "divide": _pair("Div"),
    "exp": plain("Exp"),
    "log": plain("Log"),
    "rsqrt": plain("Rsqrt"),
    "erf": plain("Erf"),
    "softplus": _softplus,
    "clamp": _clamp,
    "gather": _gather,
    "one_hot": _one_hot,
}
