{{ landed('ops_schema_drift') }}
