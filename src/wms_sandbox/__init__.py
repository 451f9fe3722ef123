"""The sandbox: a stand-in of the warehouse fulfillment service, to run and test against.

It is written from the specification (sections 2, 4, 5 and 7) and imports nothing else of `wms_sync`, so that a
misreading in the client cannot hide in its mirror image here. What belongs here: the rules of the service, a
deterministic set of ugly data, and the ways to let time pass. What does not: anything that knows how it is read.

Requests: `server` (a socket), `app` (routes), `auth`, `errors`, `query` (parameters of a listing) with `filters`,
`json5` and `selection`; `kinds` has the field tables that selection goes by; `faults` are broken answers for tests.

Creates: `definitions` with `shapes` (what a body may hold), `body` (JSON), `checking`, `creates` (the endpoints); what
was created is in `location_tags`, `retailers` and `created_products`, and comes into new shipments by `newcomers`.
`description` is the OpenAPI document made from these tables.

Merchant API: `merchant_api` (the envelope), `sessions`, `rpc_errors`, `rpc_methods` with `rpc_search`.

Data: `store` (the columns of all shipments), `advance` (letting time pass), `clock`, `config`. What a shipment shows:
`families` with `heads`, `family_orders`, `order_belongings`, `family_packages`, `galleries`. What shipments share:
`pools` with `identities`, `products`, `options`. Under both: `measures`, `texts`, `dice`.

Answers: `matching` and `tracking` (which shipments meet the filters), `paging` (which of them stand on a page),
`compiled` (what goes where), `templates` and `slots` (objects serialised beforehand), `shared` (each shared object
once), `pages` (the envelope).
"""
