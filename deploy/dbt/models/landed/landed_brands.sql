{{ landed('brands') }}
