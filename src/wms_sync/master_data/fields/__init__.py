"""What a file can say: the fields of each kind, the rule of each cell, and the columns made from them."""
