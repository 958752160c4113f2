#!/usr/bin/env bash
# Measures what light updates write to the disk: documents of load.mjs are updated at random, at an even rate,
# and the bytes that the server's process wrote are compared with the bytes of the updates' JSON. Needs Linux,
# JDK 17+, curl, Node.js 18+ and the packaged jar.
#
#   load-tests/wear.sh                                    400000 documents, 100 updates/s, 60 s
#   load-tests/wear.sh DOCUMENTS UPDATES_A_SECOND SECONDS
set -euo pipefail
cd "$(dirname "$0")/.."

documents=${1:-400000} rate=${2:-100} seconds=${3:-60}
classpath=${SERVER_CLASSPATH:-target/lectus.jar}
port=${PORT:-5989}
base=http://127.0.0.1:$port
work=$(mktemp -d)
cleanup() { kill "$lectus" 2>/dev/null || true; wait; rm -rf "$work"; }
trap cleanup EXIT

java -Xmx512m -cp "$classpath" lectus.Lectus serve --port "$port" --data "$work/data" \
  --set access-log=false >"$work/log" 2>&1 & lectus=$!
for _ in $(seq 300); do curl -fs "$base/_up" >/dev/null && break; sleep 0.1; done

written() { awk '/^write_bytes/ { print $2 }' "/proc/$lectus/io"; }
megabytes() { awk -v b="$1" 'BEGIN { printf "%.0f MB", b / 1e6 }'; }
# Waits until nothing is left to flush and to compact: nothing written for three seconds.
until_at_rest() {
  local quiet=0 before now
  while [ $quiet -lt 3 ]; do
    before=$(written); sleep 1; now=$(written)
    if [ $((now - before)) -lt 100000 ]; then quiet=$((quiet + 1)); else quiet=0; fi
  done
}

node load-tests/load.mjs "$base/wear" "$documents"
until_at_rest
echo "store of $documents documents at rest: $(du -sm "$work/data" | cut -f1) MB"
before=$(written)
read -r updates json < <(node load-tests/wear.mjs "$base/wear" "$documents" "$rate" "$seconds")
bytes=$(($(written) - before))
echo "$updates updates, $(megabytes "$json") of JSON, $(megabytes $bytes) written: $(awk -v a=$bytes -v b="$json" 'BEGIN { printf "%.1f times", a / b }')"
