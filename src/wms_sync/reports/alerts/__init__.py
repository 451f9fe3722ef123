"""Alert operators: facts about runs and data, messages about them, and the channels that take these.

``observe`` compares the facts with the alerts that were sent, and puts new ones into the outbox of the state store.
``deliver`` sends what is due. Any process can call both at any time, so nothing depends on the one in which a run
failed. Belongs here: which facts are reported, and how. Keep out: finding out whether something is wrong. An alert
holds ids, counts and the sentences of our own errors, but no values of rows, and no part of a channel's address.
"""
