"""One run from its start to its end: the turn, the read, the load, the report and the record, put together.

The command line and the steps of Dagster call it, so that both do the same. Belongs here: the order of these, and what
is recorded of them. Does not: who starts a run, what it prints and how an orchestrator shows it.
"""
