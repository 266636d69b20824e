"""How a program becomes functional Keras models: one layer per node, shared by the models of all updates."""

import keras
from keras import ops

from netdyno_worker.adapters.keras import weights
from netdyno_worker.adapters.keras.ops import (
    RULES,
    flatten_as_it_lies,
    same_padding,
    subsampled,
    transposed_padding,
    without_padding,
)
from netdyno_worker.adapters.keras.site import Site
from netdyno_worker.adapters.keras.uses import Uses
from netdyno_worker.adapters.kit.statistics import values_per_channel
from netdyno_worker.adapters.kit.windows import axes_of, needs_subsampling
from netdyno_worker.contract import Unsupported
from netdyno_worker.program import kinds, shapes

ANCHOR = "anchor"  # an input that feeds layers which need none, in a program without inputs


class ParameterValue(keras.layers.Layer):
    """A parameter as a value; its call argument is ignored."""

    def __init__(self, shape, trainable, **options):
        super(ParameterValue, self).__init__(**options)
        self.value = self.add_weight(shape=shape, initializer="zeros", trainable=trainable, name="value")

    def compute_output_shape(self, input_shape):
        return tuple(self.value.shape)

    def call(self, anchor):
        return ops.convert_to_tensor(self.value)


class Network(object):
    """Every value of the program as a Keras tensor, and {parameter: where it is kept} in `slots`."""

    def __init__(self, job, layout, label_type):
        self.slots = {}
        self._job = job
        self._program = job.program
        self._layout = layout
        self._shapes = shapes(job.program)
        self._kinds = kinds(job.program)
        self._uses = Uses(job.program)
        self._parameters = {parameter.name: parameter for parameter in job.program.parameters}
        self._layers = {}
        self._rows = {}  # weight: the image that is flattened before it in memory order
        self._activated = set()  # activations that the layer before them computes
        self._inputs = self._make_inputs(label_type)
        self._values = dict(self._inputs)
        self._needs = {name: {name} for name in self._inputs}
        for node in job.program.nodes:
            self._add(node)
        self._keep_unused()

    def model(self, kind, targets):
        """A functional model of `kind` from the inputs that `targets` need; and the names of those inputs."""
        for name in targets:
            self._value(name)
        needed = set().union(*[self._needs[name] for name in targets])
        names = [name for name in self._inputs if name in needed]
        outputs = [self._values[name] for name in targets]
        inputs = [self._inputs[name] for name in names]
        return kind(inputs=_single(inputs), outputs=_single(outputs)), names

    def split_loss(self, loss):
        """(node before the loss, input that is its target, function of both), or None if it is not of that form."""
        node = {node.name: node for node in self._program.nodes}[loss]
        is_loss = self._program.facts[node.op].loss
        if not is_loss or node.inputs[0] in self._inputs or node.inputs[1] not in self._inputs:
            return None
        value, target = node.inputs
        rule, shape, kind = RULES[node.op], self._shapes[value], self._kinds[value]
        return value, target, lambda *values: rule(Site(node, values, shape, kind, (), self._layout, 0))

    def store_initial(self):
        for name, slot in self.slots.items():
            initial = self._job.initial(name).astype(keras.config.floatx(), copy=False)
            slot.variable.assign(slot.store(initial))

    def _make_inputs(self, label_type):
        found = {}
        for source in self._program.inputs:
            dtype = label_type if source.dtype == "integer" else keras.config.floatx()
            shape = self._layout.shape(source.shape, source.kind)
            found[source.name] = keras.Input(batch_shape=shape, dtype=dtype)
        if not found:
            found[ANCHOR] = keras.Input(batch_shape=(1, 1), dtype=keras.config.floatx())
        return found

    def _add(self, node):
        owned, facts = self._is_layer(node), self._program.facts[node.op]
        if facts.state and not owned and not self._uses.owns_state(node):
            raise Unsupported("a layer of Keras owns its state, that of '%s' is used elsewhere" % node.name)
        kept = self._uses.kept(node) if owned else self._uses.state(node)
        names = [name for name in node.inputs if name not in kept] or [next(iter(self._inputs))]
        shape, kind = self._shapes.get(names[0]), self._kinds.get(names[0])  # an anchor has neither
        inputs = [self._value(name) for name in names]
        if facts.loss:  # it compares values element by element
            inputs = [self._layout.alike(x, self._kinds[name], kind) for x, name in zip(inputs, names)]
        self._needs[node.name] = set().union(*[self._needs[name] for name in names])
        seed = (self._job.seed * 1000003 + node.attributes.get("seed", 0)) % 2**31
        axes = axes_of(node, self._shapes) if "strides" in node.attributes else ()
        site = Site(node, inputs, shape, kind, axes, self._layout, seed)
        if self._needs_subsampling(site):
            site = subsampled(site)
        if facts.state and not owned:
            self._values[node.name] = self._normalised(site)
        else:
            self._values[node.name] = self._weighted(site) if owned else self._weightless(site)

    def _is_layer(self, node):
        """Whether a Keras layer computes the node: one owns its weights, and can do it at all."""
        grouped = node.op == "transposed_convolution" and node.attributes["groups"] > 1
        return self._uses.owns_weights(node) and not grouped

    def _needs_subsampling(self, site):
        if site.node.op != "convolution" or self._job.device != "cpu":
            return False
        return needs_subsampling(site.axes, self._shapes[site.node.inputs[1]][1])

    def _value(self, name):
        """The Keras tensor of an input, a node, or a parameter that is used as a value."""
        if name not in self._values:
            parameter, anchor = self._parameters[name], next(iter(self._inputs))
            layer = ParameterValue(self._layout.shape(parameter.shape, parameter.kind), parameter.trainable)
            slot = weights.image if self._layout.reorders(parameter.kind) else weights.plain
            self.slots[name] = slot(layer.value)
            self._values[name] = layer(self._inputs[anchor])
            self._needs[name] = {anchor}
        return self._values[name]

    def _weightless(self, site):
        if site.node.name in self._activated:
            return site.inputs[0]
        if site.node.op == "flatten" and self._layout.reorders(site.kind):
            image = site.shape[1:]
            if image[0] == 1 or image[1:] == (1, 1):
                return flatten_as_it_lies(site.inputs[0])
            behind = self._uses.weights_behind(site.node)
            if behind is not None:
                self._rows.update((name, image) for name in behind)
                return flatten_as_it_lies(site.inputs[0])
        return RULES[site.node.op](site)

    def _weighted(self, site):
        """The value of the layer that owns the node's weights; the layer is made at its first call."""
        x = site.inputs[0]
        padding = "valid"
        if site.node.op == "convolution":
            x, padding = self._padded(site)
        elif site.node.op == "transposed_convolution":
            padding = transposed_padding(site.node, self._shapes[site.node.inputs[1]])
        value = self._layer_of(site, x, padding)(x)
        cut = site.node.op == "transposed_convolution" and padding == "valid"
        return without_padding(site, value) if cut else value

    def _layer_of(self, site, x, padding):
        """The layer that has the weights of a node; a new one is made for values like `x`."""
        key = tuple(self._uses.kept(site.node))
        if key in self._layers:
            return self._layers[key]
        activation = self._uses.activation_after(site.node)
        if activation is not None:
            self._activated.add(activation.name)
        makers = {
            "convolution": self._convolution,
            "transposed_convolution": self._transposed_convolution,
            "linear": self._linear,
            "batch_norm": self._batch_norm,
            "gather": self._embedding,
        }
        layer = makers[site.node.op](site, activation and activation.op, padding)
        self._layers[key] = layer
        layer.build(x.shape)
        self._keep(site, layer)
        return layer

    def _padded(self, site):
        """The image and the padding that Keras knows by name; any other is added before the layer."""
        padding = site.node.attributes["padding"]
        if padding == same_padding(site.axes) and any(padding) and not self._uses.is_shared(site.node):
            return site.inputs[0], "same"
        if not any(padding):
            return site.inputs[0], "valid"
        return self._layout.padded(site.inputs[0], padding), "valid"

    def _convolution(self, site, activation, padding):
        channels, _, height, width = self._shapes[site.node.inputs[1]]
        return keras.layers.Conv2D(
            channels,
            (height, width),
            strides=site.node.attributes["strides"],
            padding=padding,
            data_format=self._layout.data_format,
            groups=site.node.attributes["groups"],
            activation=activation,
            use_bias=len(site.node.inputs) > 2,
            kernel_initializer="zeros",
        )

    def _transposed_convolution(self, site, activation, padding):
        _, channels, height, width = self._shapes[site.node.inputs[1]]
        return keras.layers.Conv2DTranspose(
            channels,
            (height, width),
            strides=site.node.attributes["strides"],
            padding=padding,
            data_format=self._layout.data_format,
            activation=activation,
            use_bias=len(site.node.inputs) > 2,
            kernel_initializer="zeros",
        )

    def _embedding(self, site, activation, padding):
        rows, features = self._shapes[site.node.inputs[0]]
        return keras.layers.Embedding(rows, features, embeddings_initializer="zeros")

    def _linear(self, site, activation, padding):
        features = self._shapes[site.node.inputs[1]][0]
        with_bias = len(site.node.inputs) > 2
        return keras.layers.Dense(features, activation=activation, use_bias=with_bias, kernel_initializer="zeros")

    def _batch_norm(self, site, activation, padding, **options):
        return keras.layers.BatchNormalization(
            axis=self._layout.channel_axis if site.kind == "image" else 1 - len(site.shape),
            momentum=1.0 - site.node.attributes["momentum"],
            epsilon=site.node.attributes["epsilon"],
            **options,
        )

    def _normalised(self, site):
        """A batch norm whose scale and shift other nodes use too: its layer owns its state alone."""
        x, scale, shift = site.inputs
        layer = self._batch_norm(site, None, "", center=False, scale=False)
        value = layer(x)
        self._keep_state(self._uses.state(site.node), layer, site)
        shape = self._layout.shape((1, -1, 1, 1), "image") if site.kind == "image" else (1, -1)
        scale, shift = (ops.reshape(vector, shape) for vector in (scale, shift))
        return ops.add(ops.multiply(value, scale), shift)

    def _keep(self, site, layer):
        """Record where the layer's parameters are."""
        names = self._uses.kept(site.node)
        if site.node.op == "batch_norm":
            slots = [weights.plain(v) for v in (layer.gamma, layer.beta)]
            self._keep_state(names[2:], layer, site)
        elif site.node.op == "gather":
            slots = [weights.plain(layer.embeddings)]
        else:
            rows = self._rows.get(names[0])
            is_kernel = self._kinds[names[0]] == "kernel"
            slots = [weights.kernel(layer.kernel) if is_kernel else weights.matrix(layer.kernel, rows)]
            slots += [weights.plain(layer.bias)] * (len(names) > 1)
        self.slots.update(zip(names, slots))

    def _keep_state(self, names, layer, site):
        variance = weights.biased_variance(layer.moving_variance, values_per_channel(site.shape))
        self.slots.update(zip(names, [weights.plain(layer.moving_mean), variance]))

    def _keep_unused(self):
        """Parameters that no node uses are kept too."""
        for name in self._parameters:
            if name not in self.slots:
                self._value(name)


def _single(values):
    """Keras passes one value on faster than a list of one."""
    return values[0] if len(values) == 1 else values
