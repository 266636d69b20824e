"""Training in JAX of networks that are not classifiers of images by momentum, for bare_jax.py."""

from functools import partial
from math import prod

import jax
import jax.numpy as jnp
import jax_models as models
import numpy as np
from blocks import check_parameters
from jax_models import Make, Precision


class Training:
    """The loop: `step()` trains once without waiting, `wait()` returns when everything is computed."""

    def __init__(self, options) -> None:
        make, train, batch_of, count = CASES[options.network, options.dataset]
        parameters = make(Make(), **options.set)
        check_parameters(sum(prod(p.shape) for p in jax.tree.leaves(parameters)), options.expected(count))
        zeros = partial(jax.tree.map, jnp.zeros_like, parameters)
        state = {"parameters": parameters, "first": zeros(), "second": zeros(), "count": jnp.zeros((), jnp.int32)}
        self.state = jax.device_put(state)
        self.batch = [jnp.array(value) for value in batch_of(options)]
        self.compiled = jax.jit(partial(train, options), donate_argnums=0)
        self.loss = None

    def step(self) -> None:
        self.state, self.loss = self.compiled(self.state, self.batch)

    def wait(self) -> None:
        jax.block_until_ready((self.state, self.loss))


def by_adam(loss_of, options, state, batch, learning_rate=0.001, beta2=0.999):
    key = jax.random.fold_in(jax.random.key(0), state["count"])
    at = Precision(options.precision)
    loss, gradients = jax.value_and_grad(partial(loss_of, **_own(options)))(state["parameters"], batch, key, at)
    count = state["count"] + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["first"], gradients)
    second = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * g * g, state["second"], gradients)
    one, two = 1 - 0.9**count, 1 - beta2**count
    parameters = jax.tree.map(
        lambda p, m, v: p - learning_rate * (m / one) / (jnp.sqrt(v / two) + 1e-8), state["parameters"], first, second
    )
    return {"parameters": parameters, "first": first, "second": second, "count": count}, loss


def by_divergence(options, state, batch):
    """Contrastive divergence with momentum; the second moments stay as they are."""
    key = jax.random.fold_in(jax.random.key(0), state["count"])
    error, gradients = models.rbm_gradients(state["parameters"], batch, key, Precision(options.precision))
    first = jax.tree.map(lambda u, g: 0.5 * u + g, state["first"], gradients)
    parameters = jax.tree.map(lambda p, u: p - 0.05 * u, state["parameters"], first)
    return {**state, "parameters": parameters, "first": first, "count": state["count"] + 1}, error


def _own(options):
    """The option that a loss cannot tell from the parameters' shapes."""
    return {name: value for name, value in options.set.items() if name == "heads"}


def text(words, steps, options):
    words, steps = options.set.get("words", words), options.set.get("steps", steps)
    draw = np.random.RandomState(1)
    return [draw.randint(0, words, (options.batch, steps)).astype(np.int32) for _ in range(2)]


def photos(options):
    draw = np.random.RandomState(1)
    images = draw.uniform(0, 1, (options.batch, 224, 224, 3)).astype(np.float32)
    return images, draw.randint(0, 1000, options.batch).astype(np.int32)


def digits(options):
    return (np.random.RandomState(1).uniform(0, 1, (options.batch, 784)).astype(np.float32),)


_gpt2 = partial(by_adam, models.gpt2_loss, learning_rate=6e-4, beta2=0.95)
# (network, dataset): its parameters, how it is trained, its batch, parameter count
CASES = {
    ("lstm", "text"): (models.lstm, partial(by_adam, models.lstm_loss), partial(text, 10_000, 32), 6_182_672),
    ("vae", "mnist"): (models.vae, partial(by_adam, models.vae_loss), digits, 652_824),
    ("rbm", "mnist"): (models.rbm, by_divergence, digits, 393_284),
    ("vit-b16", "imagenet"): (models.vit, partial(by_adam, models.vit_loss), photos, 86_567_656),
    ("gpt2", "text"): (models.gpt2, _gpt2, partial(text, 50_257, 1024), 124_439_808),
}
