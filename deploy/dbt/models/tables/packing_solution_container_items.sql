-- depends_on: {{ ref('packing_solution_containers') }}
{{ newer_wins('packing_solution_container_items', root='shipments') }}
