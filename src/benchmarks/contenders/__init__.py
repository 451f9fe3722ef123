"""The contenders of the first sync: one module each, run in its own process, none importing another.

Like the product, they learn from `WMS_*` variables what to read. They write their own measurements as JSON to the file
that is their first argument. `dlt_pipeline` runs in the environment of `.requirements/bench.txt`, so it imports nothing
of this project.
"""
