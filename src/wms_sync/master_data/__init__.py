"""From CSV files of master data to records that the service has, one step a module.

Belongs here: reading a CSV file as text, checking each row against every rule of the specification, what has to be
known before sending, the plan, the push, the file of rejected rows. Does not: HTTP (``api``), the ledger's tables
(``state``).
"""
