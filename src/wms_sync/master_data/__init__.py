"""Push master data from CSV files to the service. Each step imports only those above it.

    csv_file      reads a CSV file as text
    fields        the rules of cells; ``json_columns`` those of cells with JSON
    kinds         the kinds of master data, each with its body
    columns       the columns of a kind, and the header of a file
    records       the records of valid rows, and the rules between them
    check         checks each row by every rule that does not need the service
    existing      reads the objects that the service is known to have
    plan          decides each row by these objects
    create        sends one create; ``apply`` sends a plan, parents first
    push          handles a file from plan to report; ``pushed_files`` has its rejected rows, and files that wait

Keep out: HTTP (``service``), the ledger's tables (``state``).
"""
