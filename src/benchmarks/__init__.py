"""The benchmark: what a sync costs, measured from outside, in one run on one machine.

`python -m benchmarks` starts one sandbox per size and lets each contender do the same work in its own process and
folder: the product as a user runs it, its library without Dagster, dlt, and a floor that only downloads, lands and
decodes, with and without a database of the same rows. Each benchmark is a module of its own, which `__main__` lists;
`measuring`, `service`, `runs`, `rows` and `report` are shared by them. Linux only: it reads `/proc`.

Belongs here: starting, timing, comparing. Does not: anything that the product needs, or a threshold that fails a build.
Nothing here is installed with the package.
"""
