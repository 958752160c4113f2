#!/usr/bin/env bash
# Documents per second of a replication: between two databases of one server, and pulled from another server; with
# COUCHDB_URL (http://user:password@host:port) also between two databases of that CouchDB, by its own replicator. Prints
# a table. Needs JDK 17+, curl and the packaged jar; about a minute. DOCUMENTS and JAR may be set.
set -euo pipefail
cd "$(dirname "$0")/.."

jar=${JAR:-target/lectus.jar}
[ -f "$jar" ] || { echo "Build the jar first: mvn -q package -DskipTests" >&2; exit 1; }
documents=${DOCUMENTS:-50000}
here=http://127.0.0.1:5988
there=http://127.0.0.1:5989
work=$(mktemp -d)
servers=()
cleanup() {
  for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap cleanup EXIT

for port in 5988 5989; do
  java -Xmx512m -jar "$jar" serve --port $port --set access-log=false --data "$work/$port" >"$work/log$port" 2>&1 & servers+=($!)
done
for url in $here $there; do
  for _ in $(seq 200); do curl -fs $url/_up >/dev/null && break; sleep 0.1; done
done

# fill URL DATABASE: documents of some 500 bytes, 2 000 in a request.
fill() {
  curl -fsS -X PUT "$1/$2" >/dev/null
  for from in $(seq 0 2000 $((documents - 1))); do
    awk -v from="$from" -v all="$documents" 'BEGIN {
      printf "{\"docs\":["
      for (i = from; i < from + 2000 && i < all; i++) {
        printf "%s{\"_id\":\"doc-%08d\",\"number\":%d,\"type\":\"note\",\"text\":\"", (i > from ? "," : ""), i, i
        for (j = 0; j < 40; j++) printf "some words "
        printf "\"}"
      }
      printf "]}" }' | curl -fsS -o /dev/null -X POST "$1/$2/_bulk_docs" -H 'Content-Type: application/json' --data-binary @-
  done
}

# replicate SERVER SOURCE TARGET: prints documents per second.
replicate() {
  local seconds
  seconds=$(curl -fsS -o "$work/answer" -w '%{time_total}' -X POST "$1/_replicate" -H 'Content-Type: application/json' \
    -d "{\"source\":\"$2\",\"target\":\"$3\"}")
  grep -q "\"docs_written\":$documents," "$work/answer" || { cat "$work/answer" >&2; exit 1; }
  awk -v n="$documents" -v s="$seconds" 'BEGIN { printf "%d", n / s }'
}

fill $here local
fill $there remote
curl -fsS -X PUT $here/copy >/dev/null
curl -fsS -X PUT $here/pulled >/dev/null
printf '| replication of %s documents | documents/s |\n|---|---|\n' "$documents"
printf '| between two databases of a server | %s |\n' "$(replicate $here local copy)"
printf '| from another server | %s |\n' "$(replicate $here $there/remote pulled)"
if [ -n "${COUCHDB_URL:-}" ]; then
  for db in lectus-source lectus-target; do curl -fs -o /dev/null -X DELETE "$COUCHDB_URL/$db" || true; done
  fill "$COUCHDB_URL" lectus-source
  curl -fsS -X PUT "$COUCHDB_URL/lectus-target" >/dev/null
  printf '| by CouchDB, between two of its databases | %s |\n' \
    "$(replicate "$COUCHDB_URL" "$COUCHDB_URL/lectus-source" "$COUCHDB_URL/lectus-target")"
  for db in lectus-source lectus-target; do curl -fs -o /dev/null -X DELETE "$COUCHDB_URL/$db" || true; done
fi
