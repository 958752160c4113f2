#!/usr/bin/env bash
# Measures images of a database as shares of the same run: reading one against _changes?include_docs, storing
# one against _bulk_docs, an increment of 1 000 changes, and writers beside a backup against writers alone.
# Needs Linux, JDK 17+, curl, Node.js 18+ and the packaged jar.
#
#   load-tests/backup.sh           200 000 documents of 1 kB
#   load-tests/backup.sh 1000000   as many
set -euo pipefail
cd "$(dirname "$0")/.."

documents=${1:-200000}
classpath=${SERVER_CLASSPATH:-target/lectus.jar}
port=${PORT:-5988}
base=http://127.0.0.1:$port
work=$(mktemp -d "${WORK:-/tmp}/backup.XXXXXX")
lectus=
cleanup() { [ -z "$lectus" ] || kill "$lectus" 2>/dev/null || true; wait; rm -rf "$work"; }
trap cleanup EXIT

java -Xmx512m -cp "$classpath" lectus.Lectus serve --port "$port" --data "$work/data" \
  --set access-log=false >"$work/log" 2>&1 & lectus=$!
until curl -fs $base/_up >/dev/null; do
  kill -0 $lectus || { cat "$work/log" >&2; exit 1; }
  sleep 0.1
done
node load-tests/backup.mjs $base "$documents" "$work"
