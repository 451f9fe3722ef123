-- grain: no rows: drops the lake's catalogue; its files stay, and maintenance of the next lake in the same location deletes them
-- source: the lake's catalogue in PostgreSQL
drop schema if exists lake cascade
