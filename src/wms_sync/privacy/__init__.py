"""What is personal in the service's data: the one table of it, finding it in a page, taking it out.

Belongs here: which fields speak of a person, and pages without them. Does not: where pages are kept (``extract``), the
schema ``pii`` (``sql/tables``), forgetting an order everywhere (``analytics``). Specification: 2.5, 4.5.
"""
