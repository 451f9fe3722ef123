"""Tables in a lake: a catalogue in PostgreSQL, Parquet files in a bucket, one fenced writer. Needs extra ``lake``."""
