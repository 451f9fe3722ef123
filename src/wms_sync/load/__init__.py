"""One load of the tables, put together from the packages before it: flatten, merge, check, publish."""
