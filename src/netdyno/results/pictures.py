"""What does a record keep of the pictures that its network makes?"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from netdyno.errors import NetdynoError

MOST = 24
LONGEST_SIDE = 64

Side = Annotated[int, Meta(ge=1, le=LONGEST_SIDE)]
_BASE64 = {"pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$(?!\n)"}
Pixels = Annotated[bytes, Meta(max_length=MOST * LONGEST_SIDE**2 * 3, extra_json_schema=_BASE64)]


class Pictures(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Pictures of `channels` bytes a pixel, row by row, one after the other: `made` by the network, and as many
    `images` of the test split. Where it `sees_images`, it made each picture of the image in the same place."""

    height: Side
    width: Side
    channels: Literal[1, 3]
    made: Pixels
    images: Pixels
    sees_images: bool

    def __post_init__(self) -> None:
        size = self.height * self.width * self.channels
        if len(self.made) not in range(size, MOST * size + 1, size) or len(self.images) != len(self.made):
            raise NetdynoError(
                f"pictures: expected 1 to {MOST} of {size} bytes and as many images,"
                f" received {len(self.made)} and {len(self.images)} bytes."
            )

    @property
    def count(self) -> int:
        return len(self.made) // (self.height * self.width * self.channels)
