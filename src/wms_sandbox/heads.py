"""What the index columns need to know of a family without making it: its retailer, merchant and statuses."""

from dataclasses import dataclass, replace

from wms_sandbox import identities, texts
from wms_sandbox.dice import Dice

PAIR_SHARE = 10
"""Every tenth family has one order shared by two shipments."""

MOST_PACKAGES = 4
_PACKAGE_WEIGHTS = (14, 62, 17, 7)
_STATUS_WEIGHTS = (12, 5, 4, 4, 6, 60, 5, 2, 2)
_STATE_WEIGHTS = (15, 30, 40, 8, 5, 2)


@dataclass(frozen=True)
class OrderedProduct:
    """What an item needs to know of its product."""

    sku: str
    kind: str
    id: int


@dataclass(frozen=True)
class Newcomer:
    """What a family is made for: a created retailer (None: it has another one), created products, or both."""

    retailer_id: int | None
    products: tuple[OrderedProduct, ...]


@dataclass(frozen=True)
class Head:
    """The head of a family. `statuses` and `packages` have an entry for each of its shipments.

    `retailer_id` may refer to no existing retailer. `products` are those of the order if the family was made for them;
    otherwise it is empty, and chance decides.
    """

    is_pair: bool
    merchant: int
    retailer_id: int | None
    statuses: tuple[int, ...]
    packages: tuple[int, ...]
    order_state: int
    order_status: int
    products: tuple[OrderedProduct, ...] = ()

    def is_packed(self, part: int) -> bool:
        """Return whether a shipment of the family has a `packed_at` from the start."""
        return texts.SHIPMENT_STATUSES[self.statuses[part]] in ("packed", "shipped")


def family_head(seed: int, family: int) -> Head:
    """Return the head of one family, without making the rest."""
    dice = Dice(seed, "head", family)
    is_pair = family % PAIR_SHARE == 0
    parts = range(2 if is_pair else 1)
    merchant = dice.low_first(identities.MERCHANTS)
    retailer: int | None = None
    if dice.chance(0.5):
        retailer = (
            identities.NOWHERE + family
            if dice.chance(0.005)  # well below the 1 % at which a check warns
            else identities.retailer_id(dice.low_first(identities.RETAILERS))
        )
    statuses = tuple(dice.weighted(_STATUS_WEIGHTS) for _ in parts)
    packages = tuple(dice.weighted(_PACKAGE_WEIGHTS) for _ in parts)
    order_state, order_status = dice.weighted(_STATE_WEIGHTS), dice.whole(0, len(texts.ORDER_STATUSES) - 1)
    return Head(is_pair, merchant, retailer, statuses, packages, order_state, order_status)


def newcomer_head(seed: int, family: int, newcomer: Newcomer) -> Head:
    """Return the head of a family with one shipment that is made for a newcomer."""
    head = family_head(seed, family)
    return replace(
        head,
        is_pair=False,
        retailer_id=newcomer.retailer_id or head.retailer_id,
        statuses=head.statuses[:1],
        packages=head.packages[:1],
        products=newcomer.products,
    )
