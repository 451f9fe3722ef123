"""From CSV files of master data to records that the service has; each step imports only those above it.

    csv_file      a CSV file as text
    fields        what a cell may hold; ``json_columns`` what a cell with JSON may
    kinds         what can be created: one value a kind, with its body
    columns       the columns of a kind, and the header of a file
    records       the records that rows become, and the rules between them
    check         each row against every rule that can be checked without the service
    existing      what the service is known to have
    plan          each row against that
    create        one create; ``apply`` sends a plan, parents first
    push          a file from plan to report; ``pushed_files`` has its rejected rows, and files that wait

Keep out: HTTP (``service``), the ledger's tables (``state``).
"""
