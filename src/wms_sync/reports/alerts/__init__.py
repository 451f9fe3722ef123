"""Alert operators to findings: compose the messages, and send them to channels.

``observe`` compares the findings with the alerts that were sent, and puts new alerts into the outbox of the state
store. ``deliver`` sends the alerts that are due. Any process can call both at any time, so alerts do not depend on the
process whose run failed. Belongs here: which findings are reported, and how. Keep out: finding problems. An alert
contains ids, counts and this program's own error messages, but no values of rows, and no part of a channel's address.
"""
