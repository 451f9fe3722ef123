{{ landed('package_items') }}
