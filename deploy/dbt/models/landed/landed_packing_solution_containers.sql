{{ landed('packing_solution_containers') }}
