"""What a sync costs beside dlt and a floor, measured from outside, in one run on one machine.

`python -m benchmarks` starts a sandbox and lets the contenders take turns: each is a process with a folder of its own,
all read the same service, and no figure counts before their databases are compared. Read in this order: `trials` (who
does what when), `contenders` (how each is run), `outputs` (the comparison), `measuring` and `service`; `floor` and
`dlt_pipeline` are what the other two contenders run. `persons` measures functions of the product alone. Linux only: it
reads `/proc`.

Belongs here: starting, timing, comparing. Does not: anything that the product needs, or a threshold that fails a build.
Nothing here is installed with the package.
"""
