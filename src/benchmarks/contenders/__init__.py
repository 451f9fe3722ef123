"""The contenders of the first sync: one module each, run as a process of its own, none importing another.

They are told by `WMS_*` variables what to read, like the product, and write what they know of themselves as JSON to the
file that is their first argument. `dlt_pipeline` runs in the environment of `.requirements/bench.txt`, and therefore
imports nothing of this project.
"""
