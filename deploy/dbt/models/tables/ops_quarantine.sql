select * exclude (_listed_at)
from {{ ref('landed_ops_quarantine') }}
