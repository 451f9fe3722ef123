-- depends_on: {{ ref('packages') }}
{{ newer_wins('package_items', root='shipments') }}
