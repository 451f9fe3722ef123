{{ landed('order_status_history') }}
