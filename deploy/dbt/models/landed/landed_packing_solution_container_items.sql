{{ landed('packing_solution_container_items') }}
