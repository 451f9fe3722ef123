{{ landed('packages') }}
