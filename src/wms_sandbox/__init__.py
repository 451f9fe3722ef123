"""The sandbox: a stand-in for the warehouse fulfillment service, to run and test against.

It is written from the specification (sections 2, 4, 5 and 7) and imports nothing of `wms_sync`, so that a misreading in
the client cannot be repeated here. What belongs here: the rules of the service, the data of a plausible business (with
`odd_values`: difficult data), always the same for a seed, and the ways to let time pass. What does not: anything that
knows how the data is read.

Requests: `server` (a socket), `app` (routes), `errors`, `query` (parameters of a listing) with `filters` and
`selection`; `kinds` has the field tables for selection; `faults` has broken answers for tests; `replay` serves a
recording instead.
Creates: `definitions` with `shapes` (what a body may contain), `checking`, `creates` (the endpoints);
created objects are in `location_tags`, `retailers` and `created_products`; `newcomers` puts them into new shipments.
Merchant API: `merchant_api` (the envelope, sessions), `rpc_methods`.
Data: `store` (the columns of all shipments), `advance` (letting time pass), `clock`, `config`. Content of a shipment:
`families` with `heads`, `family_orders`, `order_belongings`, `family_packages`, `galleries`. Shared objects:
`pools` with `identities`, `products`, `options`. Used by both: `measures`, `texts`, `dice`.
Answers: `matching` and `tracking` (which shipments match the filters), `paging` (which of them are on a page),
`compiled` (which object goes where), `templates` and `slots` (objects serialised in advance), `shared` (each shared
object once), `pages` (the envelope).
"""
