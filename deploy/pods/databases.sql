-- the database of Dagster's history, beside that of the state and the lake
create database dagster;
