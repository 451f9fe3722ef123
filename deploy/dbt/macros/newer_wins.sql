{# The rows of a table that are so now: of each object the version that wins, and of a part of it the rows on the page
   of that version. What the winner's window did not bring is taken from the version before that did. #}
{% macro newer_wins(table, root) %}
    -- depends_on: {{ ref('missing_shipments') }}
    {% if execute %}
        {% set this_table = about(table) %}
        {% set root_table = about(root) %}
        {% set omitted_columns = run_query(
            "select distinct unnest(omitted['" ~ table ~ "']) from " ~ ref('current_windows')
        ).columns[0].values() %}
        {% set keys = this_table['keys'] %}
    {% else %}
        {% set this_table = {'columns': {}, 'set_keys': [], 'parent': none, 'parent_key': []} %}
        {% set root_table = {'keys': ['id'], 'newer': none} %}
        {% set omitted_columns = [] %}
        {% set keys = [] %}
    {% endif %}
    with occurrences as (
        select
            version."{{ root_table['keys'][0] }}" as root_key,
            version._window_id,
            version._page,
            version._extracted_at,
            {% if root_table['newer'] %}coalesce(version."{{ root_table['newer'] }}", version._extracted_at - interval '10 minutes')
            {% else %}version._extracted_at{% endif %} as ranks_by,
            listed.reason in ('audit', 'backfill') as looked,
            coalesce(listed.omitted['{{ table }}'], []) as omitted,
            list_contains(listed.omitted_sets, '{{ table }}') as omits_set
        from {{ ref('landed_' ~ root) }} as version
        inner join {{ ref('current_windows') }} as listed on version._window_id = listed.window_id
    ),

    bounded as (
        select
            *,
            max(_extracted_at) filter (where looked) over (partition by root_key) as last_looked
        from occurrences
    ),

    ranked as (
        select
            *,
            row_number() over (
                partition by root_key
                order by
                    coalesce(_extracted_at < last_looked, false),
                    ranks_by desc,
                    _extracted_at desc,
                    looked desc,
                    _window_id desc,
                    _page desc
            ) as place
        from bounded
    ),

    decided as (
        select
            *,
            -- the first version that brought all rows; those before it may have brought some
            coalesce(min(place) filter (where not omits_set) over (partition by root_key), 1000000000) as whole_at
        from ranked
    ),

    brought as (
        select
            landed.*,
            decided.place,
            decided.whole_at,
            decided.omitted
        from {{ ref('landed_' ~ table) }} as landed
        inner join decided
            on landed."{{ this_table['root_key'] or 'id' }}" = decided.root_key
            and landed._window_id = decided._window_id
            and landed._page = decided._page
    ),

    filled as (
        select
            * {% if omitted_columns %}replace (
                {% for column in omitted_columns %}
                    (arg_min({'value': "{{ column }}"}, place)
                        filter (where "{{ column }}" is not null or not list_contains(omitted, '{{ column }}'))
                        over (partition by {{ quoted(keys) }})).value as "{{ column }}"{{ ',' if not loop.last }}
                {% endfor %}
            ){% endif %}
        from brought
    ),

    winners as (
        select *
        from filled
        where place <= whole_at
        qualify place = min(place) over (partition by {{ quoted(this_table['set_keys']) or 'true' }})
    )

    select
        {% for column in this_table['columns'] %}
            {% if column == '_missing_since' %}missing.missing_since as _missing_since
            {% else %}winners."{{ column }}"{% endif %}{{ ',' if not loop.last }}
        {% else %}1{% endfor %}
    from winners
    {% if '_missing_since' in this_table['columns'] %}
        left join {{ ref('missing_shipments') }} as missing
            on winners.id = missing.shipment_id and winners._extracted_at <= missing.missing_since
    {% endif %}
    {% if this_table['parent'] and this_table['parent'] != root %}
        semi join {{ ref(this_table['parent']) }} as parent
            on {% for own in this_table['parent_key'] %}
                winners."{{ own }}" = parent."{{ about(this_table['parent'])['keys'][loop.index0] }}"
                {{ 'and' if not loop.last }}
            {% endfor %}
    {% endif %}
{% endmacro %}

{% macro quoted(columns) %}{% for column in columns %}"{{ column }}"{{ ', ' if not loop.last }}{% endfor %}{% endmacro %}
