{{ landed('order_items') }}
