{{ landed('ops_quarantine') }}
