{{ landed('package_packaging') }}
