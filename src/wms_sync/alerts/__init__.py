"""Tell operators what happened: facts about runs and data, messages about them, and the channels that take these.

``observe`` compares what is so with what was told, and puts what is new into the outbox of the state store.
``deliver`` sends what is due. Any process can call both at any time, so nothing depends on the one in which a run
failed. Belongs here: which facts are told, and how. Does not: finding out whether something is wrong, which is the
matter of the packages that the facts are about. An alert holds ids, counts and the sentences of our own errors, but no
values of rows, and nothing of a channel's address.
"""
