-- depends_on: {{ ref('packing_solutions') }}
{{ newer_wins('packing_solution_containers', root='shipments') }}
