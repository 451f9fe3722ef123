{# Where the Parquet files lie: the folder parquet of the data folder, or its address in object storage. #}
{% macro batches() %}{{ return(env_var('BATCHES', 'data/parquet')) }}{% endmacro %}

{# The lists of batches, newest list that begins anew and later. #}
{% macro lists() %}
    select *
    from read_json(
        '{{ batches() }}/_loads/*.json',
        maximum_object_size = 1000000000,
        columns = {
            'listed_at': 'timestamptz',
            'starts_over': 'boolean',
            'windows': 'struct(window_id varchar, reason varchar, files map(varchar, varchar[]), omitted map(varchar, varchar[]), omitted_sets varchar[])[]',
            'about': 'json'
        }
    )
    qualify listed_at >= max(listed_at) filter (where starts_over) over ()
{% endmacro %}

{# What the newest list says about a table: keys, root, root_key, newer, columns and so on. #}
{% macro about(table) %}
    {% set found = run_query(
        "select to_json(json_extract(about, '$.tables." ~ table ~ "')) from (" ~ lists() ~ ") "
        "where about is not null order by listed_at desc limit 1"
    ) %}
    {{ return(fromjson(found.columns[0].values()[0])) }}
{% endmacro %}
