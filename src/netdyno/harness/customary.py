"""What is customarily done to a dataset's images before they are learned."""

from collections.abc import Mapping

from netdyno.harness.train_request import Transforms
from netdyno.zoo.items import Items

# Mean and deviation of each channel over the training images, as published implementations use them.
STATISTICS: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "mnist": ((0.1307,), (0.3081,)),
    "fashion-mnist": ((0.2860,), (0.3530,)),
    "cifar10": ((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    "imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
}
MIDDLE, QUARTER = 0.5, 0.25  # for sources that nobody has measured
PAD = 4  # around small colour images, from which windows of their own size are cut


def customary_transforms(items: Items, source: str, packed_size: int) -> Transforms:
    """Grey images are only scaled. Colour ones are also cropped and flipped: small ones from a padded border, larger
    ones from what was packed around the network's window."""
    channels, size, _ = items.shape
    mean, std = STATISTICS.get(source, ((MIDDLE,) * channels, (QUARTER,) * channels))
    if channels == 1:
        return Transforms(mean=mean, std=std)
    if packed_size == size:
        return Transforms(mean=mean, std=std, crop=size, pad=PAD, flip=True)
    return Transforms(mean=mean, std=std, crop=size, flip=True)
