"""What a sandbox is made with. Two sandboxes with equal configurations and a fixed `now` answer byte for byte alike."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class SandboxConfig:
    """Settings of one sandbox.

    `days` is the span before the anchor over which shipments were created. `now` freezes the clock (a datetime with
    a time zone): it then moves by `advance` alone. Without it the anchor is the moment of construction and the clock
    runs. `families` is how many different shipments the data repeats: fewer makes a smaller and duller sandbox.

    What the specification leaves open about creates: `unique_skus` refuses a second product with a sku,
    `create_status` (200 or 201) is the answer to a created retailer or product, `takes_any_body` creates either from
    whatever has a key. What the Merchant API is seen to do now and then: `rpc_long_codes` writes small error codes as
    `-32000 - n`, `rpc_number_version` the version as a number, `rpc_null_error` an `"error": null` beside a result.
    """

    shipments: int = 2000
    seed: int = 1
    token: str = "sandbox-token"  # noqa: S105 - guards nothing but made-up data
    days: int = 90
    now: datetime | None = None
    families: int = 1000
    unique_skus: bool = False
    create_status: int = 201
    takes_any_body: bool = False
    merchant_username: str = "sandbox-merchant"
    merchant_api_key: str = "sandbox-api-key"
    rpc_long_codes: bool = False
    rpc_number_version: bool = False
    rpc_null_error: bool = False

    def __post_init__(self) -> None:
        if self.shipments < 0 or self.days < 1 or self.families < 20:
            raise ValueError("a sandbox needs shipments >= 0, days >= 1 and families >= 20")
        if self.now is not None and self.now.tzinfo is None:
            raise ValueError("now needs a time zone: datetime(..., tzinfo=UTC)")
