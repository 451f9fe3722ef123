-- grain: one row per object of one kind on the pages of the batch
-- keys: none: several pages may contain the same object
-- source: the kind's file written by shipments/flatten/write.py, one object per line
-- notes: strict: a value that does not fit its type makes the read fail; names in braces are literals
read_json({file}, columns = {{{columns}}}, format = 'newline_delimited', records = true, auto_detect = false, maximum_object_size = {largest})
