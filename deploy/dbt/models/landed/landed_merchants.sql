{{ landed('merchants') }}
