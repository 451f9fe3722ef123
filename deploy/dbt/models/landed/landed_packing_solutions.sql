{{ landed('packing_solutions') }}
