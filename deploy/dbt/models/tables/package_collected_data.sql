-- depends_on: {{ ref('packages') }}
{{ newer_wins('package_collected_data', root='shipments') }}
