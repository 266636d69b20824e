"""How XLA slides windows fast: convolutions and pools over NHWC images, with other forms on the CPU.

XLA's CPU backend runs some of its own window operations far slower than the same arithmetic in another form
(seen with jaxlib 0.10.2): a max pool with its gradient 3 to 20 times, a 1x1 convolution's weight gradient 2 to 4
times, a convolution whose kernel is larger than its image 6 to 12 times. On a GPU its own are used.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from netdyno_worker.adapters.kit.windows import axes_over, inside_counts

LAYOUT = ("NHWC", "HWIO", "NHWC")


class Windows(object):
    """Convolutions and pools for one device and one precision of products."""

    def __init__(self, rewrite, precision):
        self._rewrite = rewrite
        self._precision = precision

    def convolution(self, x, kernel, attributes):
        plain = self._plain(attributes)
        if not self._rewrite or attributes["groups"] > 1:
            return plain(x, kernel)
        if kernel.shape[:2] == (1, 1) and not any(attributes["padding"]):
            return self._product(_strided(x, attributes["strides"]), kernel[0, 0])
        if x.shape[3] == 1 and is_wide(x):
            return _chosen(_one_channel(attributes), plain, plain)(x, kernel)
        patches = self._patches(attributes)
        if kernel.shape[0] * kernel.shape[1] > min(_area(x), _area(jax.eval_shape(plain, x, kernel))):
            return _chosen(patches, patches, plain)(x, kernel)
        if x.shape[3] < 8 and is_wide(x):
            return _chosen(plain, patches, plain)(x, kernel)
        return plain(x, kernel)

    def transposed_convolution(self, x, kernel, attributes):
        """As a convolution of the spread image; of a kernel (height, width, out / groups, in)."""
        height, width, outputs, inputs = kernel.shape
        groups, (top, bottom, left, right) = attributes["groups"], attributes["padding"]
        by_group = kernel[::-1, ::-1].reshape(height, width, outputs, groups, inputs // groups)
        return lax.conv_general_dilated(
            x,
            by_group.transpose(0, 1, 4, 3, 2).reshape(height, width, inputs // groups, groups * outputs),
            (1, 1),
            ((height - 1 - top, height - 1 - bottom), (width - 1 - left, width - 1 - right)),
            lhs_dilation=attributes["strides"],
            dimension_numbers=LAYOUT,
            feature_group_count=groups,
            precision=self._precision,
        )

    def max_pool(self, x, attributes):
        """The first of equal maxima wins, and gets the gradient."""
        if not self._rewrite:
            lowest = np.array(-np.inf, x.dtype)
            return lax.reduce_window(x, lowest, lax.max, *_window(attributes))
        wide = widened(x)  # a CPU selects narrower numbers many times slower
        best, *others = _shifted(wide, attributes["kernel"], attributes, -np.inf)
        for other in others:
            best = jnp.where(other > best, other, best)
        return best.astype(x.dtype)

    def mean_pool(self, x, attributes):
        """Summed widened; padding does not count in the divisor."""
        wide = widened(x)
        total = lax.reduce_window(wide, np.zeros((), wide.dtype), lax.add, *_window(attributes))
        inverse = _inverse_counts(axes_over(x.shape[1:3], attributes["kernel"], attributes), wide.dtype)
        return (total * inverse).astype(x.dtype)

    def _plain(self, attributes):
        def convolve(x, kernel):
            return lax.conv_general_dilated(
                x,
                kernel,
                attributes["strides"],
                _sides(attributes),
                dimension_numbers=LAYOUT,
                feature_group_count=attributes["groups"],
                precision=self._precision,
            )

        return convolve

    def _patches(self, attributes):
        """All windows side by side as one matrix, times the kernel as another."""

        def convolve(x, kernel):
            columns = jnp.concatenate(_shifted(x, kernel.shape[:2], attributes, 0.0), 3)
            return self._product(columns, kernel.reshape(-1, kernel.shape[3]))

        return convolve

    def _product(self, x, matrix):
        return lax.dot_general(x, matrix, (((3,), (0,)), ((), ())), precision=self._precision)


def is_wide(x):
    """Whether `x` is float32 or, in a proof, float64."""
    return x.dtype in (jnp.float32, jnp.float64)


def widened(x):
    """As float32; float64 stays."""
    return x if is_wide(x) else x.astype(jnp.float32)


def _one_channel(attributes):
    """A sum of images times numbers, which XLA turns into one loop."""

    def convolve(x, kernel):
        height, width = kernel.shape[:2]
        offsets = [(i, j) for i in range(height) for j in range(width)]
        images = _shifted(x, (height, width), attributes, 0.0)
        return sum(image * kernel[i, j] for (i, j), image in zip(offsets, images))

    return convolve


def _chosen(forward, to_image, to_kernel):
    """One convolution computed by `forward`, its two gradients by the other two of the same meaning."""

    @jax.custom_vjp
    def convolve(x, kernel):
        return forward(x, kernel)

    def keep(x, kernel):
        return forward(x, kernel), (x, kernel)

    def backward(kept, gradient):
        x, kernel = kept
        (image,) = jax.vjp(lambda x: to_image(x, kernel), x)[1](gradient)
        (weight,) = jax.vjp(lambda kernel: to_kernel(x, kernel), kernel)[1](gradient)
        return image, weight

    convolve.defvjp(keep, backward)
    return convolve


def _shifted(x, kernel, attributes, fill):
    """What each place of the kernel sees, row by row: strided views of the padded image."""
    sides = _sides(attributes)
    padded = lax.pad(x, np.array(fill, x.dtype), [(0, 0, 0)] + [side + (0,) for side in sides] + [(0, 0, 0)])
    strides = attributes["strides"]
    rows, columns = [(padded.shape[a + 1] - kernel[a]) // strides[a] * strides[a] + 1 for a in (0, 1)]
    return [
        lax.slice(padded, (0, i, j, 0), (x.shape[0], i + rows, j + columns, x.shape[3]), (1,) + strides + (1,))
        for i in range(kernel[0])
        for j in range(kernel[1])
    ]


def _strided(x, strides):
    return x if strides == (1, 1) else x[:, :: strides[0], :: strides[1], :]


def _inverse_counts(axes, dtype):
    """One over how many image elements each window holds: a number where all hold the same."""
    inverse = (1.0 / inside_counts(axes)).astype(dtype)
    return inverse.flat[0] if np.all(inverse == inverse.flat[0]) else inverse[None, :, :, None]


def _window(attributes):
    """Window, strides and padding as reduce_window wants them."""
    return (
        (1,) + attributes["kernel"] + (1,),
        (1,) + attributes["strides"] + (1,),
        ((0, 0),) + _sides(attributes) + ((0, 0),),
    )


def _sides(attributes):
    top, bottom, left, right = attributes["padding"]
    return ((top, bottom), (left, right))


def _area(x):
    return x.shape[1] * x.shape[2]
