#!/usr/bin/env bash
# Measures backups of a database as shares of the same run: reading an image against _changes?include_docs, storing one
# against _bulk_docs, an increment of 1 000 changes, and writers beside a backup against writers alone; and beside
# "lectus backup" and "lectus restore", couchbackup and couchrestore of 50 000 documents at most, which take neither
# attachments, local documents nor _security. Needs Linux, JDK 17+, curl, Node.js 20+, npm with its registry, and the
# packaged jar. WORK is where some 6 kB for each document are free; PORT and SERVER_CLASSPATH may be set.
#
#   load-tests/backup.sh           200 000 documents of 1 kB
#   load-tests/backup.sh 1000000   as many, each only once: some seven minutes
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

npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" @cloudant/couchbackup@2.11.12 >/dev/null
java -Xmx512m -cp "$classpath" lectus.Lectus serve --port "$port" --data "$work/data" \
  --set access-log=false >"$work/log" 2>&1 & lectus=$!
until curl -fs $base/_up >/dev/null; do
  kill -0 $lectus || { cat "$work/log" >&2; exit 1; }
  sleep 0.1
done
node load-tests/backup.mjs $base "$documents" "$work" java -Xmx256m -cp "$classpath" lectus.Lectus
