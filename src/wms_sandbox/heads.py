"""What the index columns need to know of a family without making it: its retailer, merchant and statuses.

A family has a head for each stage that its order passes, with all its shipments. If values are odd, their statuses are
chance, and the same at each stage.
"""

from dataclasses import dataclass, replace

from wms_sandbox import identities, texts
from wms_sandbox.dice import Dice
from wms_sandbox.kinds import names

PAIR_SHARE = 10
"""Every tenth family has one order shared by two shipments."""

MOST_PACKAGES = 4
_PACKAGE_WEIGHTS = (0, 82, 13, 5)
_ODD_PACKAGE_WEIGHTS = (14, 62, 17, 7)
_ODD_STATUS_WEIGHTS = (12, 5, 4, 4, 6, 60, 5, 2, 2)
_ODD_STATE_WEIGHTS = (15, 30, 40, 8, 5, 2)

STAGES = names("new picking packing late packed shipped delivered")
"""Late: over its day and not packed. An order that is shipped by its day is never late."""
LATE, PACKED, SHIPPED, DELIVERED = range(3, 7)
_STATUSES = names("new picking packing packing packed")
_TROUBLES = names("backordered partial_backorder delayed_shipment delayed_shipment invalid_address holded")
"""Why an order is late: its status at that stage."""


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
    """The head of a family at a stage. `endings`, `statuses` and `packages` have an entry for each of its shipments.

    `packages` are those in the end. A shipment that is not shipped then is canceled, or voided and replaced by the
    second one of its order. `retailer_id` may refer to no existing retailer. `products` are those of the order if the
    family was made for them; otherwise it is empty, and chance decides.
    """

    number: int
    stage: int
    is_odd: bool
    merchant: int
    retailer_id: int | None
    carrier: int
    trouble: str
    endings: tuple[str, ...]
    statuses: tuple[int, ...]
    packages: tuple[int, ...]
    order_state: int
    order_status: int
    products: tuple[OrderedProduct, ...] = ()

    def is_packed(self, part: int) -> bool:
        """Return whether a shipment of the family has a `packed_at`."""
        return texts.SHIPMENT_STATUSES[self.statuses[part]] in ("packed", "shipped", "voided")

    def shown(self, part: int) -> int:
        """Return how many packages a shipment of the family has; an odd one has them whatever its status."""
        return self.packages[part] if self.is_odd or self.is_packed(part) else 0

    def ends(self, ending: str) -> bool:
        """Return whether the order is done, and its last shipment has this ending."""
        return self.stage >= SHIPPED and self.endings[-1] == ending


def family_heads(seed: int, family: int, *, is_odd: bool) -> list[Head]:
    """Return the heads of one family, one for each stage, without making the rest."""
    dice = Dice(seed, "head", family, is_odd=is_odd)
    is_pair = family % PAIR_SHARE == 0
    merchant = dice.low_first(identities.MERCHANTS)
    retailer: int | None = None
    if dice.chance(0.5):
        retailer = (
            identities.NOWHERE + family
            if dice.oddly(0.005)  # well below the 1 % at which a check warns
            else identities.retailer_id(dice.low_first(identities.RETAILERS))
        )
    unusual, share = ("voided", 0.25) if is_pair else ("canceled", 0.025)
    ending = unusual if dice.chance(share) else "shipped"
    endings = (ending, "shipped") if is_pair else (ending,)
    carrier, trouble = dice.low_first(len(texts.CARRIERS)), dice.pick(_TROUBLES)
    head = Head(family, 0, is_odd, merchant, retailer, carrier, trouble, endings, (), (), 0, 0)
    if is_odd:
        odd = _odd(head, dice)
        return [replace(odd, stage=stage) for stage in range(len(STAGES))]
    packages = 1 if is_pair else dice.weighted(_PACKAGE_WEIGHTS)
    return [_at_stage(replace(head, stage=stage), packages) for stage in range(len(STAGES))]


def _odd(head: Head, dice: Dice) -> Head:
    return replace(
        head,
        statuses=tuple(dice.weighted(_ODD_STATUS_WEIGHTS) for _ in head.endings),
        packages=tuple(dice.weighted(_ODD_PACKAGE_WEIGHTS) for _ in head.endings),
        order_state=dice.weighted(_ODD_STATE_WEIGHTS),
        order_status=dice.whole(0, len(texts.ORDER_STATUSES) - 1),
    )


def _at_stage(head: Head, packages: int) -> Head:
    done = "" if head.stage < SHIPPED else "canceled" if head.ends("canceled") else "complete"
    words = head.endings if done else (_STATUSES[head.stage],) * len(head.endings)
    word = head.trouble if head.stage == LATE else done or ("processing" if head.stage else "new")
    return replace(
        head,
        statuses=tuple(map(texts.SHIPMENT_STATUSES.index, words)),
        packages=(packages,) * len(words),
        order_state=texts.ORDER_STATES.index(word if word in texts.ORDER_STATES else "processing"),
        order_status=texts.ORDER_STATUSES.index(word),
    )


def newcomer_head(head: Head, newcomer: Newcomer) -> Head:
    """Return the head with one shipment that is made for a newcomer."""
    return replace(
        head,
        retailer_id=newcomer.retailer_id or head.retailer_id,
        endings=head.endings[-1:],
        statuses=head.statuses[-1:],
        packages=head.packages[-1:],
        products=newcomer.products,
    )
