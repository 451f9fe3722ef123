-- Value types shared by many objects (spec 2.0).
-- A reference to another object: its kind and id.
create type reference as struct("type" varchar, id bigint);
-- A weight, a volume or a length with its unit (lb, in^3, in).
create type measure as struct("value" double, unit varchar);
create type dimensions as struct(length double, width double, height double, unit varchar);
create type money as struct(amount decimal(18, 4), currency varchar);
