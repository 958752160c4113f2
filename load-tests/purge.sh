#!/usr/bin/env bash
# Measures whether purges give disk space back: documents of 1 kB are written, all are deleted, and
# their tombstones swept; the data folder's size after each step. The sweep runs in a process of its own,
# since servers sweep every five minutes and need two rounds for the youngest tombstones.
# Needs Linux, JDK 17+, curl, Node.js 18+ and the packaged jar.
#
#   load-tests/purge.sh          200 000 documents, some 5 minutes
#   load-tests/purge.sh 50000    as many
set -euo pipefail
cd "$(dirname "$0")/.."

documents=${1:-200000}
classpath=${SERVER_CLASSPATH:-target/lectus.jar}
port=${PORT:-5988}
base=http://127.0.0.1:$port
work=$(mktemp -d "${WORK:-/tmp}/purge.XXXXXX")
lectus=
cleanup() { [ -z "$lectus" ] || kill "$lectus" 2>/dev/null || true; wait; rm -rf "$work"; }
trap cleanup EXIT

serve() {
  java -Xmx512m -cp "$classpath" lectus.Lectus serve --port "$port" --data "$work/data" \
    --set access-log=false >"$work/log" 2>&1 & lectus=$!
  until curl -fs $base/_up >/dev/null; do
    kill -0 $lectus || { cat "$work/log" >&2; exit 1; }
    sleep 0.1
  done
}
stop() { kill $lectus; wait $lectus || true; lectus=; }
written() { awk '/^write_bytes/ { print $2 }' "/proc/$lectus/io"; }
until_at_rest() {
  local quiet=0 before
  while [ $quiet -lt 5 ]; do
    before=$(written); sleep 1
    if [ $(($(written) - before)) -lt 100000 ]; then quiet=$((quiet + 1)); else quiet=0; fi
  done
}
tables() { find "$work/data" -name '*.sst' -printf '%s\n' | awk '{ sum += $1 } END { printf "%.1f", sum / 1048576 }'; }
row() { printf '| %s | %s MB | %s MB |\n' "$1" "$(du -sm "$work/data" | cut -f1)" "$(tables)"; }

echo '| after | data folder | of it tables |'
echo '|---|---|---|'
serve
curl -fs -X PUT $base/w >/dev/null
curl -fs -X PUT $base/w/_auto_purge -H 'Content-Type: application/json' \
  -d '{"deleted_document_ttl":"1_s"}' >/dev/null
node load-tests/purge.mjs $base/w "$documents" write
until_at_rest; row "$documents documents of 1 kB"
node load-tests/purge.mjs $base/w "$documents" delete
until_at_rest; row 'all are deleted'
stop
row 'the server has stopped'
seconds=$(java -Xmx512m -cp "$classpath" load-tests/SweepTombstones.java "$work/data" 10)
row "all tombstones are purged, in $seconds s"
serve
until_at_rest; row 'the server has started again'
curl -fs $base/w | grep -q '"doc_del_count":0' || { echo 'Tombstones are left' >&2; exit 1; }
