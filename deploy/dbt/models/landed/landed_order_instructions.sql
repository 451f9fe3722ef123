{{ landed('order_instructions') }}
