#!/usr/bin/env bash
# Documents per second of replications: between two databases of one server, pulled from another server and pushed to
# it; with COUCHDB_URL and COUCHDB_URL2 (http://user:password@host:port) also by CouchDB's own replicator, between two
# databases of the first, pulled from the second, and pushed to it. Each is run ROUNDS times in turn (4), of which the
# first warms up; the median of the others counts. Then memory and delays of JOBS continuous replications (10 000) of
# one server of 512 MB, of which 1 % have something to copy. Prints tables with bars. Needs JDK 17+, curl, jq, Node.js
# 20 and the packaged jar; some five minutes. DOCUMENTS (50 000), JAR and PORT may be set.
set -euo pipefail
cd "$(dirname "$0")/.."

jar=${JAR:-target/lectus.jar}
[ -f "$jar" ] || { echo "Build the jar first: mvn -q package -DskipTests" >&2; exit 1; }
documents=${DOCUMENTS:-50000}
port=${PORT:-5987}
here=http://127.0.0.1:$port
there=http://127.0.0.1:$((port + 1))
work=$(mktemp -d)
servers=()
stop() {
  for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
  wait
  servers=()
}
trap 'stop; rm -rf "$work"' EXIT

# serve PORT FOLDER
serve() {
  java -Xmx512m -jar "$jar" serve --port "$1" --set access-log=false --data "$work/$2" >"$work/log-$2" 2>&1 & servers+=($!)
  for _ in $(seq 300); do curl -fs "http://127.0.0.1:$1/_up" >/dev/null && return; sleep 0.1; done
  cat "$work/log-$2" >&2
  exit 1
}

# anew URL DATABASE: makes it, or makes it empty.
anew() {
  curl -fs -o /dev/null -X DELETE "$1/$2" || true
  curl -fsS -o /dev/null -X PUT "$1/$2"
}

# fill URL DATABASE: documents of some 500 bytes, 2 000 in a request.
fill() {
  anew "$1" "$2"
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

# replicate KIND SERVER SOURCE TARGET: notes documents per second.
replicate() {
  local seconds
  seconds=$(curl -fsS -o "$work/answer" -w '%{time_total}' -X POST "$2/_replicate" -H 'Content-Type: application/json' \
    -d "{\"source\":\"$3\",\"target\":\"$4\"}")
  jq -e ".history[0].docs_written == $documents" "$work/answer" >/dev/null || { cat "$work/answer" >&2; exit 1; }
  awk -v n="$documents" -v s="$seconds" 'BEGIN { printf "%d\n", n / s }' >>"$work/$1"
}

# rate KIND: the median without the first round.
rate() { tail -n +2 "$work/$1" | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

# row TEXT KIND [KIND OF COUCHDB]
row() {
  if [ -n "${COUCHDB_URL:-}" ] && [ -n "${3:-}" ]; then
    awk -v text="$1" -v a="$(rate "$2")" -v b="$(rate "$3")" \
      'BEGIN { printf "| %s | %d | %d | %.1f × (bar: 5 ×) %s |\n", text, a, b, a / b, (a >= 5 * b ? "ok" : "MISSED") }'
  else
    printf '| %s | %s | | |\n' "$1" "$(rate "$2")"
  fi
}

serve "$port" here
serve $((port + 1)) there
fill $here local
fill $there remote
if [ -n "${COUCHDB_URL:-}" ]; then
  couch=$COUCHDB_URL
  other=${COUCHDB_URL2:-$COUCHDB_URL}
  fill "$couch" lectus-source
  fill "$other" lectus-other
fi
for _ in $(seq "${ROUNDS:-4}"); do
  anew $here copy && replicate local $here local copy
  anew $here copy && replicate pull $here $there/remote copy
  anew $there copy && replicate push $here local $there/copy
  if [ -n "${COUCHDB_URL:-}" ]; then
    anew "$couch" lectus-target && replicate couch-local "$couch" "$couch/lectus-source" "$couch/lectus-target"
    anew "$couch" lectus-target && replicate couch-pull "$couch" "$other/lectus-other" "$couch/lectus-target"
    anew "$other" lectus-pushed && replicate couch-push "$couch" "$couch/lectus-source" "$other/lectus-pushed"
  fi
done
printf '| %s documents | Lectus, documents/s | CouchDB | |\n|---|---|---|---|\n' "$documents"
row 'between two databases of a server' local couch-local
row 'pulled from another server' pull couch-pull
row 'pushed to another server' push couch-push
if [ -n "${COUCHDB_URL:-}" ]; then
  curl -fs -o /dev/null -X DELETE "$couch/lectus-source" || true
  curl -fs -o /dev/null -X DELETE "$couch/lectus-target" || true
  curl -fs -o /dev/null -X DELETE "$other/lectus-other" || true
  curl -fs -o /dev/null -X DELETE "$other/lectus-pushed" || true
fi
stop

serve "$port" jobs
node load-tests/replication-jobs.mjs $here "${JOBS:-10000}"
# Used after a full collection.
jcmd "${servers[0]}" GC.run >/dev/null
jcmd "${servers[0]}" GC.heap_info | awk '/used/ { sub(/.*used /, ""); sub(/K.*/, ""); kb = $0 + 0; exit }
  END { printf "| heap after a collection, of 512 MB | %d MB (bar: 400 MB) %s |\n", kb / 1024, (kb < 400 * 1024 ? "ok" : "MISSED") }'
awk '/VmHWM/ { printf "| most memory of the process | %d MB |\n", $2 / 1024 }' "/proc/${servers[0]}/status"
