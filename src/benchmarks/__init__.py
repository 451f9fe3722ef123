"""The benchmark: what a sync costs, measured from outside, in one run on one machine.

`python -m benchmarks` starts one sandbox per size and lets each contender do the same work in its own process and
folder: the product as a user runs it, its library without Dagster, dlt, and a floor that only downloads, lands and
decodes. `first_sync`, `night`, `memory`, `dagster_overhead` and `persons` are the benchmarks; `measuring`, `service`
and `report` are shared by them. Linux only: it reads `/proc`.

Belongs here: starting, timing, comparing. Does not: anything that the product needs, or a threshold that fails a build.
Nothing here is installed with the package.
"""
