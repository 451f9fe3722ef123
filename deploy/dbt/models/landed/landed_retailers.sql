{{ landed('retailers') }}
