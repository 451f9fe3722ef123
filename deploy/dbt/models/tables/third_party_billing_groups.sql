{{ newer_wins('third_party_billing_groups', root='third_party_billing_groups') }}
