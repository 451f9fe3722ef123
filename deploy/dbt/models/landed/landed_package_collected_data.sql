{{ landed('package_collected_data') }}
