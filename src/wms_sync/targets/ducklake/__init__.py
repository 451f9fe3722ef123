"""Tables in a lake: a catalogue in PostgreSQL, Parquet files in a folder or bucket. Needs the extra ``lake``."""
