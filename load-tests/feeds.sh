#!/usr/bin/env bash
# Measures the cost of listeners and how soon rows reach them, shards and selectors, compared with a bare
# Vert.x WebSocket server and pouchdb-server from npm, and prints the table of listeners in docs/performance.md.
# Needs JDK 17+, wrk, curl, Node.js 18+ and the packaged jar; some 14 minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

jar=target/lectus.jar
port=5985 bare_port=5987 peer_port=5990
base=http://127.0.0.1:$port
documents=100000
work=$(mktemp -d)
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap cleanup EXIT

[ -f "$jar" ] || { echo "Build the jar first: mvn -q package -DskipTests" >&2; exit 1; }
for tool in wrk curl node npm javac; do
  command -v "$tool" >/dev/null || { echo "$tool is needed" >&2; exit 1; }
done
# 10 000 sockets on both sides.
ulimit -n "$(ulimit -Hn)"
javac -d "$work/classes" load-tests/FeedLoad.java
load() { java -cp "$work/classes" FeedLoad "$@"; }
until_up() { for _ in $(seq 200); do curl -fs "$1" >/dev/null && return; sleep 0.1; done; exit 1; }

serve() { # folder
  java -Xmx512m -jar "$jar" serve --port $port --set http.max-connections=20000 --data "$work/$1" >"$work/log" 2>&1 & lectus=$!; pids+=($lectus)
  until_up $base/_up
}
row() { printf '| %s | %s |\n' "$1" "$2"; }
median() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
percent() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.0f %%", 100 * a / b; else print "–" }'; }
per_second() { awk -v n="$1" -v t="$2" 'BEGIN { printf "%.0f", n / t }'; }
seconds_of() { curl -fsS -o /dev/null -w '%{time_total}\n' "$@"; }
median_seconds_of() { for _ in 1 2 3 4 5; do seconds_of "$@"; done | median; }
put_rate() { wrk -t2 -c64 -d8s -s load-tests/wrk/put.lua "$1" | awk '/Requests\/sec/ { print $2 }'; }

echo '| measured | figure |'
echo '|---|---|'

# Listeners, compared with a server that does nothing else.
java -Xmx512m -cp "$jar" load-tests/BareSockets.java $bare_port >/dev/null 2>&1 & bare=$!; pids+=($bare)
until_up http://127.0.0.1:$bare_port/
row 'bare Vert.x WebSockets' "$(load idle $bare_port $bare 10000)"
kill $bare

serve idle
load flow $port websocket 10 1 100 5 >/dev/null
row 'idle WebSockets on one database' "$(load idle $port $lectus 10000)"
kill $lectus; wait $lectus || true

serve flow
# Warm-up: the JVM goes on compiling for half a minute.
for form in websocket continuous eventsource; do
  load flow $port $form 200 1 200 10 >/dev/null
done
for form in websocket continuous eventsource; do
  row "200 listeners, 50 writes/s, $form" "$(load flow $port $form 200 1 50 20)"
done
row '1 000 listeners, 10 writes/s, continuous' "$(load flow $port continuous 1000 1 10 20)"
row '1 000 listeners, 200 writes/s, websocket' "$(load flow $port websocket 1000 1 200 20)"
row '1 000 databases with a listener each, 200 writes/s' "$(load flow $port websocket 1000 1000 200 20)"

# Two members of a cluster on one store: only the event bus announces the writes of one to the other.
java -Xmx512m -cp "$jar:target/test-classes" load-tests/Members.java "$work/members" 2 >"$work/members.log" 2>&1 & members=$!; pids+=($members)
until grep -q '^ready' "$work/members.log"; do
  kill -0 $members 2>/dev/null || { cat "$work/members.log" >&2; exit 1; }
  sleep 0.1
done
mapfile -t ports < <(awk '/^member / { print $2 }' "$work/members.log")
load flow ${ports[1]} websocket 200 1 200 20 ${ports[0]} >/dev/null
row '200 listeners on one member, 50 writes/s through another' "$(load flow ${ports[1]} websocket 200 1 50 20 ${ports[0]})"
kill $members

# The same for pouchdb-server, as fast as it can.
npm --prefix "$work/peer" install --silent pouchdb-server@4.2.0 >/dev/null 2>&1
(cd "$work/peer" && exec node node_modules/.bin/pouchdb-server --port $peer_port --host 127.0.0.1 \
  --no-stdout-logs --dir "$work/peer/data" >/dev/null 2>&1) & peer=$!; pids+=($peer)
until_up http://127.0.0.1:$peer_port/
row '200 listeners, 50 writes/s, continuous, pouchdb-server' "$(load flow $peer_port continuous 200 1 50 20)"
kill $peer

# Shards.
curl -fsS -X PUT "$base/one?changes_shards=1" >/dev/null
curl -fsS -X PUT "$base/sixteen?changes_shards=16" >/dev/null
for database in one sixteen; do
  node load-tests/load.mjs $base/$database $documents
done
one=$(median_seconds_of $base/one/_changes)
sixteen=$(median_seconds_of $base/sixteen/_changes)
row '_changes whole, 16 shards' "$(per_second $documents $sixteen) rows/s, $(percent "$one" "$sixteen") of $(per_second $documents $one) with one"
shards=$(curl -fsS $base/sixteen/_changes/_meta | node -e '
  let text = "";
  process.stdin.on("data", (part) => { text += part; }).on("end", () => {
    console.log(JSON.parse(text).generations.at(-1).shards.join(" "));
  });')
# One client for all, so that its start is not measured.
wall_of() {
  local start; start=$(date +%s%N)
  curl -fsS "$@"
  awk -v s="$start" -v e="$(date +%s%N)" 'BEGIN { print (e - s) / 1e9 }'
}
readers=()
for shard in $shards; do readers+=(-o /dev/null "$base/sixteen/_changes/$shard"); done
ones=() alls=()
for _ in 1 2 3 4 5 6 7; do
  ones+=("$(wall_of -o /dev/null $base/sixteen/_changes)")
  alls+=("$(wall_of --parallel --parallel-immediate --parallel-max 16 "${readers[@]}" 2>>"$work/log")")
done
merged=$(printf '%s\n' "${ones[@]}" | median)
all=$(printf '%s\n' "${alls[@]}" | median)
row '16 shard readers at once' "$(per_second $documents $all) rows/s, $(percent "$merged" "$all") of the merged feed"

curl -fsS -X PUT "$base/put-one?changes_shards=1" >/dev/null
curl -fsS -X PUT "$base/put-sixteen?changes_shards=16" >/dev/null
put_rate $base/put-one >/dev/null
ones=() sixteens=()
for _ in 1 2 3; do
  ones+=("$(put_rate $base/put-one)")
  sixteens+=("$(put_rate $base/put-sixteen)")
done
one=$(printf '%s\n' "${ones[@]}" | median)
sixteen=$(printf '%s\n' "${sixteens[@]}" | median)
row 'PUT, 64 connections, 16 shards' "$sixteen/s, $(percent "$sixteen" "$one") of $one/s with one"

# A selector that one document of a hundred matches.
documents_seconds=$(median_seconds_of "$base/one/_changes?include_docs=true")
selector_seconds=$(median_seconds_of -X POST -H 'Content-Type: application/json' \
  -d '{"selector":{"m01":{"$mod":[100,0]}}}' "$base/one/_changes?filter=_selector")
row 'selector feed, 1 % of 100 000 match' "$(per_second $documents "$selector_seconds") documents/s, $(percent "$documents_seconds" "$selector_seconds") of $(per_second $documents "$documents_seconds") rows/s with include_docs"
