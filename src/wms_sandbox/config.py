"""The configuration of a sandbox.

With equal configurations and a fixed `now`, two sandboxes answer byte for byte alike.
"""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class SandboxConfig:
    """Settings of one sandbox.

    `days` is the span before the anchor in which shipments were created. `now` (a datetime with a time zone) freezes
    the clock, which then moves only by `advance`. Without it the anchor is the time of construction and the clock runs.
    `families` is the number of different shipments that the data repeats: fewer make a smaller and less varied sandbox.
    `odd_values`: difficult data in place of a plausible business: statuses that the vendor does not document, orders
    that contradict their shipments, missing values, references to nothing, difficult texts and numbers.
    `unasked_telephones`: each address and each ship-to location has a telephone number that was not selected.
    """

    shipments: int = 2000
    seed: int = 1
    token: str = "sandbox-token"  # noqa: S105 - guards nothing but made-up data
    days: int = 90
    now: datetime | None = None
    families: int = 1000
    odd_values: bool = False
    unasked_telephones: bool = False
    merchant_username: str = "sandbox-merchant"
    merchant_api_key: str = "sandbox-api-key"

    def __post_init__(self) -> None:
        if self.shipments < 0 or self.days < 1 or self.families < 20:
            raise ValueError("a sandbox needs shipments >= 0, days >= 1 and families >= 20")
        if self.now is not None and self.now.tzinfo is None:
            raise ValueError("now needs a time zone: datetime(..., tzinfo=UTC)")
