"""Client of the service: auth, filters, field selection, paging, retries, errors.

Belongs here: how to talk to the service. Does not: what to ask for and when (``extract``), what the answer means in
tables (``flatten``). Source: specification sections 4 to 8.
"""
