"""Client of the service: auth, filters, field selection, paging, retries, errors.

Belongs here: how to talk to the service. Does not: what to request and when (``extract``), what an answer means in the
tables (``flatten``). Source: specification sections 4 to 8.
"""
