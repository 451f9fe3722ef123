#!/usr/bin/env bash
# Install the wheel into an empty environment of each Python that is named, and run what a newcomer runs.
#   tests/try_wheel.sh python3.11 python3.13
# Not part of `make test`: it downloads every dependency. `make wheel` runs it.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${root}/.venv/bin/python" -m hatchling build -t wheel -d "$folder" "$root" >/dev/null 2>&1 ||
    (cd "$root" && .venv/bin/python -m hatchling build -t wheel -d "$folder" >/dev/null)
for python in "$@"; do
    echo "== $("$python" --version)"
    "$python" -m venv "$folder/env"
    "$folder/env/bin/python" -m pip install --quiet --disable-pip-version-check "$(echo "$folder"/*.whl)[postgres,report]"
    mkdir -p "$folder/here/pipelines"
    cd "$folder/here"
    echo "raise RuntimeError('the package of somebody else')" >pipelines/__init__.py
    "$folder/env/bin/wms-sync" demo >"$folder/demo.txt" 2>&1 || { tail -30 "$folder/demo.txt"; exit 1; }
    sed -n '/Next steps/,$p' "$folder/demo.txt"
    port=$("$folder/env/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    # nothing has to answer at the address
    WMS_BASE_URL=http://127.0.0.1:9 WMS_API_TOKEN=none "$folder/env/bin/wms-sync" ui --port "$port" >"$folder/ui.txt" 2>&1 &
    ui=$!
    for _ in $(seq 120); do
        sleep 1
        answer=$("$folder/env/bin/python" - "$port" <<'PYTHON' || true
import sys, urllib.request
asked = b'{"query": "{ workspaceOrError { ... on Workspace { locationEntries { loadStatus locationOrLoadError { __typename } } } } }"}'
request = urllib.request.Request(f"http://127.0.0.1:{sys.argv[1]}/graphql", asked, {"Content-Type": "application/json"})
try:
    print(urllib.request.urlopen(request, timeout=5).read().decode())
except OSError:  # not yet
    pass
PYTHON
        )
        case "$answer" in *RepositoryLocation\"*) break ;; esac
    done
    kill -TERM "$ui"
    wait "$ui" || true
    case "$answer" in *RepositoryLocation\"*) echo "the UI has loaded" ;; *) cat "$folder/ui.txt"; exit 1 ;; esac
    cd "$root"
    rm -rf "$folder/env" "$folder/here"
done
