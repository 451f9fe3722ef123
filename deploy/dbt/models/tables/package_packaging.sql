-- depends_on: {{ ref('packages') }}
{{ newer_wins('package_packaging', root='shipments') }}
