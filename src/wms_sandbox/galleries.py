"""Photo galleries of shipments and packages (specification 2.4): the Gallery, and its items as separate objects."""

from dataclasses import dataclass
from typing import Any

from wms_sandbox.dice import Dice
from wms_sandbox.identities import reference
from wms_sandbox.slots import number, text

PHOTOS = 2


@dataclass
class GalleryPart:
    """A Gallery and its GalleryItems."""

    gallery: dict[str, Any]
    items: list[dict[str, Any]]


def gallery_part(dice: Dice, owner: int) -> GalleryPart:
    """Return the gallery of a shipment (owner 0) or of its package (owner 1 and up)."""
    items = [_photo(dice, owner * PHOTOS + k) for k in range(dice.whole(0, PHOTOS))]
    gallery: dict[str, Any] = {
        "type": "Gallery",
        "id": number(f"gal{owner}"),
        "photo_count": len(items),
        "updated_at": text("s3") + "Z",
        "items": [reference("GalleryItem", item["id"]) for item in items],
    }
    dice.roughen(gallery, frozenset(("type", "id", "items")), share=0.3)
    return GalleryPart(gallery, items)


def _photo(dice: Dice, slot: int) -> dict[str, Any]:
    photo: dict[str, Any] = {
        "type": "GalleryItem",
        "id": number(f"gi{slot}"),
        "url": f"https://media.example.test/{text('sid')}/{slot}.jpg?sig=a%2Fb%3D",
        "thumbnail_url": f"https://media.example.test/{text('sid')}/{slot}_t.jpg",
        "caption": dice.remark(),
        "taken_at": text("s2") + dice.pick(("Z", ".75Z")),
        "device_info": dice.pick(({}, {"model": "TC52", "os": {"name": "Android", "version": [13, 0]}})),
        "media_info": dice.pick(({}, {"width": 4032, "height": 3024, "exif": None, "ratio": 1.3333})),
        "created_at": text("s2") + "Z",
    }
    dice.roughen(photo, frozenset(("type", "id")), share=0.15)
    return photo
