"""What a cell may hold: rules of single cells, custom fields, the column of JSON."""
