#!/usr/bin/env bash
# Measures a database that moves to another server while it is written, as shares of the same run: documents copied a
# second against _bulk_docs, and 64 writers beside the copy against the same writers alone; and for how long writes are
# refused at 1 000 a second. Both servers are on this machine. Needs JDK 17+, curl, wrk, Node.js 20+ and the packaged jar;
# some five minutes for 1 000 000 documents. WORK is where some 6 kB for each document are free; PORT, of which the next
# one is used, too, and SERVER_CLASSPATH may be set.
#
#   load-tests/relocate.sh           1 000 000 documents of 1 kB
#   load-tests/relocate.sh 50000     as many
set -euo pipefail
cd "$(dirname "$0")/.."

documents=${1:-1000000}
classpath=${SERVER_CLASSPATH:-target/lectus.jar}
port=${PORT:-5988}
work=$(mktemp -d "${WORK:-/tmp}/relocate.XXXXXX")
servers=()
cleanup() { kill "${servers[@]}" 2>/dev/null || true; wait; rm -rf "$work"; }
trap cleanup EXIT

for place in 0 1; do
  java -Xmx512m -cp "$classpath" lectus.Lectus serve --port $((port + place)) --data "$work/$place" \
    --set access-log=false >"$work/log$place" 2>&1 &
  servers+=($!)
  until curl -fs "http://127.0.0.1:$((port + place))/_up" >/dev/null; do
    kill -0 "${servers[$place]}" || { cat "$work/log$place" >&2; exit 1; }
    sleep 0.1
  done
done
node load-tests/relocate.mjs "http://127.0.0.1:$port" "http://127.0.0.1:$((port + 1))" "$documents"
