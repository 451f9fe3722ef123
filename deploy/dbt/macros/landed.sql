{# All rows of a table from all listed windows: rows of windows that are not listed any more, or listed again, are
   deleted first, and those of newly listed windows added. So a model that failed, or was never run, just goes on. #}
{% macro landed(table) %}
    {{ config(pre_hook="{{ delete_replaced(this) }}") }}
    -- depends_on: {{ ref('current_windows') }}
    {% if execute %}
        {% set files %}
            select files.path
            from (
                select
                    window_id,
                    listed_at,
                    '{{ batches() }}/{{ table }}/' || unnest(files['{{ table }}']) as path
                from {{ ref('current_windows') }}
            ) as files
            {% if is_incremental() %}
                anti join {{ this }} as present
                    on files.window_id = present._window_id and files.listed_at = present._listed_at
            {% endif %}
        {% endset %}
        {% set paths = run_query(files).columns[0].values() %}
        select
            {% for column, type in about(table)['columns'].items() %}
                cast(null as {{ type }}) as "{{ column }}",
            {% endfor %}
            cast(null as timestamptz) as _listed_at
        where false
        {% if paths %}
            union all by name
            select
                batch.*,
                current_windows.listed_at as _listed_at
            from read_parquet(['{{ paths | join("', '") }}'], union_by_name = true) as batch
            inner join {{ ref('current_windows') }} as current_windows on batch._window_id = current_windows.window_id
        {% endif %}
    {% endif %}
{% endmacro %}

{% macro delete_replaced(landed) %}
    {% if is_incremental() %}
        delete from {{ landed }}
        where (_window_id, _listed_at) not in (select (window_id, listed_at) from {{ ref('current_windows') }})
    {% endif %}
{% endmacro %}
