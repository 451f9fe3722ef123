{{ landed('shipments') }}
