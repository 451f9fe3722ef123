{{ landed('orders') }}
