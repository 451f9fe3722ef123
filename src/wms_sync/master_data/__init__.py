"""Push master data from CSV files to the service. Each module imports only those above it.

    csv_file      reads a CSV file as text
    suspicions    the cells that are probably not what was meant, as a table of patterns
    fields        the rules of cells; ``json_columns`` has the rules of cells with JSON
    kind          what all kinds of master data have, their columns, and the header of a file
    kinds         the kinds, each with the body of its create, and the folder of their files
    records       the records of valid rows, and the rules that involve several rows
    check         checks each row by every rule that does not need the service
    existing      reads the objects that the service is known to have
    plan          decides what happens to each row, given these objects
    create        sends one create; ``apply`` sends a plan, parents first
    push          handles a file from plan to report, writes its rejected rows, and lists open files

Keep out: HTTP (``service``), the ledger's tables (``state``).
"""
