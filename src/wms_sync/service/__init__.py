"""Client of the service: authentication, filters, field selection, paging, retries, errors.

Belongs here: how to talk to the service. Keep out: what to request and when (``shipments.read``), how answers become
rows (``shipments.flatten``). Source: specification sections 4 to 8.
"""
