"""From CSV files of master data to records that the service has; each step imports only those above it.

    csv_file  a CSV file as text
    fields    what a cell may hold
    kinds     what can be created: one value a kind, with its body and columns
    check     each row against every rule that can be checked without the service
    plan      each row against what the service is known to have
    push      creates, their ledger, the file of rejected rows

Keep out: HTTP (``service``), the ledger's tables (``state``).
"""
