"""Strings as people and other systems type them, and the vocabularies of the service (service-facts, "Values seen")."""

# ruff: noqa: RUF001 - ambiguous letters are intended

from wms_sandbox.kinds import names

UGLY = (
    "Fragile ☕️ — handle with care 🚚",
    "مرحبا بالعالم، يرجى الاتصال قبل التسليم",
    "שלום: \u200fלהשאיר ליד הדלת\u200e",
    "Zoe\u0308 Ångstro\u0308m, na\u00efve cafe\u0301",
    'The 24" "wide" shelf, a\'s and b\'s',
    "first line\nsecond line\r\n\tindented third",
    "C:\\labels\\new\\table.zpl \\\\server\\share",
    "100% cotton, 50 %d off, %s %(name)s %%",
    "👩‍👩‍👧‍👦 family pack 🇩🇪",
    "<b>Tom &amp; Jerry</b> <!-- note -->",
    "=SUM(A1:A9)",
    "a,b;c|d\ttab",
    "  spaces around  ",
    "",
    "null",
    "NaN",
    "0012",
    "1e5",
    "true",
    "日本語の商品名　全角スペース",
    "line\u2028separator \u00a0 no-break",
    "$1, ${HOME}, `ls`, {0}, \x7f",
    "'); drop table shipments; --",
    "İstanbul ß ﬁ ſ",
    "https://example.test/a?b=c&d=%20/e",
)

REMARKS = (
    "Call before delivery",
    "Deliver to the loading dock",
    "Fragile: handle with care",
    "Gift: no prices in the package",
    "Keep dry",
    "Pack with the other order of this buyer",
    "Leave with the neighbour",
    "Regular customer",
)

WORDS = names(
    "Amber Basic Classic Cotton Deluxe Eco Family Garden Heavy Indigo Junior Kitchen Linen Maple Nordic "
    "Organic Pocket Quiet Rustic Silver Travel Urban Velvet Winter"
)
THINGS = names(
    "Mug Lamp Blanket Bottle Candle Chair Clock Cushion Hook Jacket Knife Mat Notebook Pan Rug Scarf "
    "Shelf Shirt Soap Spoon Table Towel Tray Vase"
)
FIRST_NAMES = ("Ada", "Bjørn", "Chloë", "Duc", "Émile", "Fatima", "Grace", "Hiroshi", "Inês", "Jo", "Łukasz", "O'Neil")
LAST_NAMES = ("Nguyễn", "Smith-Jones", "de la Cruz", "O’Brien", "Müller", "García", "Ivanova", "李", "Öztürk", "X")
CITIES = (
    ("Springfield", "IL", "62701", "US"),
    ("Boston", "MA", "02108", "US"),
    ("Reno", "NV", "89501", "US"),
    ("São Paulo", "SP", "01310-100", "BR"),
    ("Zürich", "ZH", "8001", "CH"),
    ("Montréal", "QC", "H2Y 1C6", "CA"),
    ("東京", "13", "100-0001", "JP"),
)
DOMESTIC, ABROAD = CITIES[:3], CITIES[3:]
COUNTRIES = ("US", "CN", "DE", "VN", "MX", "IN", "PT", "TR")

SHIPMENT_STATUSES = names("new picking picked packing packed shipped canceled voided quarantine_hold")
"""The last one is not documented, as in the two lists below."""

ORDER_STATES = ("new", "processing", "complete", "canceled", "holded", "archived_by_script")
ORDER_STATUSES = (
    "new",
    "processing",
    "complete",
    "canceled",
    "holded",
    "partial_backorder",
    "backordered",
    "delayed_shipment",
    "unresolved",
    "invalid_address",
    "unable_to_process",
    "awaiting_moon_phase",
)
CARRIERS = (
    ("ups", "GROUND", "UPS Ground", "UPSN", "1Z999AA1"),
    ("fedex", "2DAY", "FedEx 2Day®", "FDEG", "61299"),
    ("usps", "PRIORITY", "USPS Priority Mail", "USPS", "9400"),
    ("dhl", "EXPRESS_WORLDWIDE", "DHL Express Worldwide", "DHLC", "JD01"),
    ("external", "LTL", 'Freight "LTL" / truck', "ODFL", "PRO-"),
)
TARIFFS = (
    (6.2, 0.55, 3, 0.02),
    (11.0, 0.9, 2, 0.02),
    (5.0, 0.6, 6, 0.14),
    (24.0, 2.1, 5, 0.02),
    (38.0, 0.35, 4, 0.02),
)
"""Of the carriers: dollars for a shipment and for each pound, days to the door, share of shipments that are late."""
ABROAD_CARRIER = 3
GOODS_TYPES = ("NORMAL", "HAZMAT", "LIMITED_QUANTITIES_COMMODITIES", "ORM_D")
