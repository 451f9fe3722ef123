{{ landed('third_party_billing_groups') }}
