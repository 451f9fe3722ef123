"""What the page of the report must show, worked out from the oracle's rows of the marts."""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

from msgspec import Struct

from tests.sql.oracle import Marts, Row, grouped, total

WEEK = timedelta(weeks=1)


class PageOracle(Struct, frozen=True):
    """The rows of each query of the page. ``steps`` has what to do by column (``orders.status``) and value."""

    marts: Marts
    steps: Mapping[tuple[str, str | None], str]

    @property
    def weeks(self) -> tuple[date, ...]:
        """The Mondays of the eight whole weeks, and of the week that is not over somewhere."""
        this = min(monday(row["local_today"]) for row in self.marts.shipments)
        return tuple(this - number * WEEK for number in range(8, -1, -1))

    def rows(self) -> dict[str, list[Row]]:
        return {
            "on_time": self._on_time(),
            "shipped": self._shipped(),
            "clients": self._clients(),
            "backlog": [self._backlog()],
            "backlog_shipments": self._backlog_shipments(),
            "carriers": self._carriers(),
            "retailers": self._retailers(),
            "packing": self._packing(),
        }

    def signs(self) -> list[Any]:
        """The numbers at the top: of the last whole week, and the backlog of now."""
        [last] = [row for row in self._shipped() if row["week"] == self.weeks[-2]]
        on_time = share(self._within("target_ship_date", self.weeks[-2], self.weeks[-1]))
        return [on_time, last["orders"], last["units"], last["cost"], self._backlog()["shipments"]]

    def _within(self, name: str, start: date, end: date, rows: Iterable[Row] | None = None) -> list[Row]:
        """The shipments whose day of this name is in ``[start, end)``."""
        return [
            row
            for row in (self.marts.shipments if rows is None else rows)
            if row[name] is not None and start <= row[name] < end
        ]

    def _on_time(self) -> list[Row]:
        due = [
            row for row in self._within("target_ship_date", self.weeks[0], date.max) if row["is_on_time"] is not None
        ]
        return ordered(
            [
                {
                    "id": key,
                    "name": name,
                    "week": week,
                    "due": len(judged),
                    "on_time": sum(row["is_on_time"] for row in judged),
                }
                for (key, name, week), judged in per(due, "warehouse_id", "warehouse_name", "target_ship_date").items()
            ],
            "name",
            "id",
            "week",
        )

    def _shipped(self) -> list[Row]:
        return ordered(
            [
                {
                    "week": week,
                    "orders": len({row["order_id"] for row in shipped} - {None}),
                    "units": total(shipped, "units_shipped"),
                    "cost": mean([row["cost"] for row in shipped]),
                    "without_cost": [row["cost"] for row in shipped].count(None),
                }
                for (week,), shipped in per(
                    self._within("shipped_day", self.weeks[0], self.weeks[-1]), "shipped_day"
                ).items()
            ],
            "week",
        )

    def _clients(self) -> list[Row]:
        before, last, this = self.weeks[-3:]
        rows = []
        for (key, name), shipments in grouped(self.marts.shipments, "merchant_id", "merchant_name").items():
            due = self._within("target_ship_date", last, this, shipments)
            row = {
                "id": key,
                "name": name,
                "due": len(judged(due)),
                "on_time": share(due),
                "on_time_before": share(self._within("target_ship_date", before, last, shipments)),
                "backlog": sum(map(is_late_and_open, shipments)),
                "units": total(self._within("shipped_day", last, this, shipments), "units_shipped"),
                "units_before": total(self._within("shipped_day", before, last, shipments), "units_shipped"),
            }
            if row["due"] or row["backlog"] or row["units"] is not None or row["units_before"] is not None:
                rows.append(row)
        return ordered(rows, "-due", "-backlog", "name", "id")[:20]

    def _waiting(self) -> list[tuple[Row, Row]]:
        """The shipments that are open past their ship-by date, with their orders."""
        return [
            (row, {row["order_id"]: row for row in self.marts.orders}.get(row["order_id"], {}))
            for row in self.marts.shipments
            if is_late_and_open(row)
        ]

    def _backlog(self) -> Row:
        late = [(row["days_late"], order.get("is_open") is False) for row, order in self._waiting()]
        return {
            "shipments": len(late),
            "over_two_days": sum(days > 2 for days, _ in late),
            "new": sum(days <= 7 for days, _ in late),
            "of_closed_orders": sum(is_closed for _, is_closed in late),
            "over_thirty_days": sum(days > 30 and not is_closed for days, is_closed in late),
        }

    def _backlog_shipments(self) -> list[Row]:
        names = ("shipment_id", "shipment_unique_id", "order_unique_id", "target_ship_date", "days_late")
        return ordered(
            [
                {name: row[name] for name in (*names, "warehouse_name", "merchant_name")}
                | {
                    "next_step": self.steps.get(("orders.status", order.get("order_status")))
                    or self.steps.get(("shipments.status", row["shipment_status"]))
                }
                for row, order in self._waiting()
                if row["days_late"] <= 30 and order.get("is_open") is not False
            ],
            "days_late",
            "shipment_id",
        )[:20]

    def _carriers(self) -> list[Row]:
        since, this = self.weeks[0], self.weeks[-1]
        inside = [row for row in self.marts.shipments if since <= (row["shipped_day"] or row["created_day"]) < this]
        rows = []
        for (carrier,), shipments in grouped(inside, "carrier_code").items():
            shipped = [row for row in shipments if row["shipped_day"]]
            kilograms = total(shipped, "billed_kg")
            rows.append(
                {
                    "carrier_code": carrier,
                    "shipments": len(shipped),
                    "cost": total(shipped, "cost"),
                    "without_cost": [row["cost"] for row in shipped].count(None),
                    "cost_per_kg": kilograms and total(shipped, "cost_by_kg") / kilograms,
                    "due": len(judged(shipments)),
                    "on_time": share(shipments),
                    "voided": sum(row["is_voided"] is True for row in shipments),
                }
            )
        return ordered(rows, "-shipments", "carrier_code")[:10]

    def _retailers(self) -> list[Row]:
        since, month, this = self.weeks[0], self.weeks[-5], self.weeks[-1]
        rows = []
        for (key, name, code), shipments in grouped(
            self.marts.shipments, "retailer_id", "retailer_name", "retailer_code"
        ).items():
            due = self._within("target_ship_date", month, this, shipments)
            before = self._within("target_ship_date", since, month, shipments)
            row = {"id": key, "name": code if name is None else name, "due": len(judged(due)), "on_time": share(due)}
            if key is not None and row["due"]:
                rows.append(row | {"due_before": len(judged(before)), "on_time_before": share(before)})
        return ordered(rows, "-due", "id")[:10]

    def _packing(self) -> list[Row]:
        packed = self._within("packed_day", self.weeks[0], self.weeks[-1])
        days = len({row["packed_day"] for row in packed})
        return ordered(
            [
                {"hour": hour, "shipments": len(at_hour) / days}
                for (hour,), at_hour in grouped(packed, "packed_hour").items()
            ],
            "hour",
        )


def per(rows: list[Row], *names: str) -> Mapping[tuple[Any, ...], list[Row]]:
    """The rows by these columns, the last of which is a day, by its week."""
    return grouped([row | {names[-1]: monday(row[names[-1]])} for row in rows], *names)


def ordered(rows: list[Row], *names: str) -> list[Row]:
    """Sorted by these columns, nulls last; downwards by those with a minus."""

    def key(row: Row) -> list[Any]:
        return [-row[name[1:]] if name[0] == "-" else (row[name] is None, row[name]) for name in names]

    return sorted(rows, key=key)


def judged(rows: Iterable[Row]) -> list[bool]:
    return [row["is_on_time"] for row in rows if row["is_on_time"] is not None]


def share(rows: Iterable[Row]) -> float | None:
    return mean(judged(rows))


def mean(values: Iterable[Any]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def is_late_and_open(row: Row) -> bool:
    return row["is_open"] is True and row["days_late"] is not None and row["days_late"] > 0


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())
