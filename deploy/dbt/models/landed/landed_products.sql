{{ landed('products') }}
