# mypy: disable-error-code="import-not-found,misc,no-any-return,no-any-unimported"
# singer-sdk is not installed where this is checked: it has an environment of its own.
"""A Singer tap for shipments, written as the documentation of Meltano's SDK advises.

One stream with a primary key and a replication key. The listing is sorted by id, so `is_sorted` stays false: the SDK
then keeps the bookmark back until the stream has ended, and never sets it past the time at which it began. A change
with exactly the bookmark's time is read again (the filter begins a second earlier). Pages follow `next`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from singer_sdk import RESTStream, Tap
from singer_sdk import typing as th
from singer_sdk.authenticators import BearerTokenAuthenticator
from singer_sdk.pagination import BaseHATEOASPaginator

PATH = "/api/global/v1/shipping/shipments"


class NextPage(BaseHATEOASPaginator):
    """Follows `next` of a page."""

    def get_next_url(self, response: Any) -> str | None:  # noqa: ANN401 - an answer of requests
        """Return the address of the next page, or None."""
        page = response.json()
        return page["next"] if page["has_more"] else None


class Shipments(RESTStream):
    """The listing of shipments. Packages stay a list."""

    name = "shipments"
    path = PATH
    records_jsonpath = "$.collection[*]"
    primary_keys = ("id",)
    replication_key = "updated_at"
    schema = th.PropertiesList(
        th.Property("id", th.IntegerType, required=True),
        th.Property("unique_id", th.StringType),
        th.Property("external_id", th.StringType),
        th.Property("status", th.StringType),
        th.Property("shipping_carrier_code", th.StringType),
        th.Property("shipping_method", th.StringType),
        th.Property("target_ship_date", th.DateType),
        th.Property("created_at", th.DateTimeType),
        th.Property("updated_at", th.DateTimeType),
        th.Property("packed_at", th.DateTimeType),
        th.Property("packages", th.ArrayType(th.ObjectType(additional_properties=True))),
    ).to_dict()

    @property
    def url_base(self) -> str:
        """Return the address of the instance."""
        return self.config["base_url"]

    @property
    def authenticator(self) -> BearerTokenAuthenticator:
        """Return what puts the token into each request."""
        return BearerTokenAuthenticator(token=self.config["token"])

    def get_new_paginator(self) -> NextPage:
        """Return a paginator for one listing."""
        return NextPage()

    def get_url_params(self, context: Mapping[str, Any] | None, next_page_token: Any) -> Any:  # noqa: ANN401
        """Return the parameters of the first page, or those that `next` has."""
        if next_page_token:
            return dict(parse_qsl(urlsplit(next_page_token.geturl()).query))
        since = self.get_starting_timestamp(context) - timedelta(seconds=1)
        return {
            "filter": f'updated_at{{gt:"{since:%Y-%m-%dT%H:%M:%SZ}"}}',
            "sort": "id",
            "limit": str(self.config["page_size"]),
            "fields": "all",
        }


class TapShipments(Tap):
    """The tap."""

    name = "tap-shipments"
    config_jsonschema = th.PropertiesList(
        th.Property("base_url", th.StringType, required=True),
        th.Property("token", th.StringType, required=True, secret=True),
        th.Property("start_date", th.DateTimeType, required=True),
        th.Property("page_size", th.IntegerType, required=True),
    ).to_dict()

    def discover_streams(self) -> list[Shipments]:
        """Return the one stream."""
        return [Shipments(self)]


if __name__ == "__main__":
    TapShipments.cli()
