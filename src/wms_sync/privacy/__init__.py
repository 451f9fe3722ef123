"""Personal data in the service's data: the table of personal fields, finding them in a page, removing them.

Belongs here: which fields are personal, and removing them from pages and values. Keep out: storing pages
(``shipments.read``), schema ``pii`` (``sql/tables``), forgetting an order everywhere (``upkeep``).
Specification: 2.5, 4.5.
"""
