{{ landed('warehouses') }}
