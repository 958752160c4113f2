#!/usr/bin/env bash
# How fast views are built and read, beside CouchDB if COUCHDB_URL is given; prints a table. Needs JDK 17+,
# Node.js 18+, wrk, curl and the packaged jar; some 6 minutes, with CouchDB half an hour.
#
#   COUCHDB_URL=http://admin:password@127.0.0.1:5984 load-tests/views.sh
#
# DOCUMENTS sets how many there are, SHARDS of how many changes shards, SECONDS_EACH how long is written, READS how
# many queries of a kind there are. CLASSPATH names classes to run in place of the jar.
set -euo pipefail
cd "$(dirname "$0")/.."

port=${PORT:-5985}
classpath=${CLASSPATH:-target/lectus.jar}
work=$(mktemp -d)
lectus=
cleanup() {
  if [ -n "$lectus" ]; then kill "$lectus" && wait "$lectus" || true; fi
  rm -rf "$work"
}
trap cleanup EXIT

java -Xmx1g -cp "$classpath" lectus.Lectus serve --port "$port" --data "$work/data" >"$work/log" 2>&1 & lectus=$!
base=http://127.0.0.1:$port
for _ in $(seq 100); do curl -fs "$base/_up" >/dev/null && break; sleep 0.1; done

node load-tests/views.mjs "$base" ${COUCHDB_URL:+"$COUCHDB_URL"}
