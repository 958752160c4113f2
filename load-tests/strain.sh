#!/usr/bin/env bash
# Measures a well-behaved client beside hostile ones, feeds with a filter of their own each, many
# databases in one subscription, and readers of shards, and prints a table of docs/performance.md.
# Needs JDK 17+, curl, the packaged jar and the compiled tests (mvn -q package -DskipTests); some 12 minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

jar=target/lectus.jar
port=5985
base=http://127.0.0.1:$port
seconds=${SECONDS_EACH:-15}
databases=${DATABASES:-100000}
work=$(mktemp -d)
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap cleanup EXIT

[ -f "$jar" ] || { echo "Build the jar first: mvn -q package -DskipTests" >&2; exit 1; }
for tool in curl javac; do
  command -v "$tool" >/dev/null || { echo "$tool is needed" >&2; exit 1; }
done
# The attackers alone have five thousand connections, counted on both sides.
ulimit -n "$(ulimit -Hn)"

serve() { # folder, heap
  java -Xmx"$2" -jar "$jar" serve --port $port --set http.hosts=host --data "$work/$1" >"$work/log" 2>&1 &
  lectus=$!; pids+=($lectus)
  for _ in $(seq 200); do curl -fs $base/_up >/dev/null && return; sleep 0.1; done
  cat "$work/log" >&2; exit 1
}
stop() { kill $lectus; wait $lectus || true; }
row() { printf '| %s | %s |\n' "$1" "$2"; }

echo '| measured | figure |'
echo '|---|---|'

# Prints rows of its own: at rest, beside each attack, beside all of them.
serve abuse 256m
java -Xmx1g -cp "$jar:target/test-classes" lectus.abuse.AbuseMain $port "$seconds" 1
stop
if grep -q OutOfMemoryError "$work/log"; then row 'OutOfMemoryError at -Xmx256m' 'yes'; fi

javac -d "$work/classes" load-tests/{FilteredFeeds,ShardReaders,FeedSockets,LoadedServer}.java
serve filters 512m
java -cp "$work/classes" FilteredFeeds $port $lectus same,ids,channels 1000 50 "$seconds" |
  while read -r line; do row '1 000 listeners, 50 writes/s' "$line"; done
stop

serve many 512m
java load-tests/ManyDatabases.java fill $port "$databases" 1 >/dev/null
row "$databases databases, 50 of them moved" \
  "$(java load-tests/ManyDatabases.java read $port "$databases" 3 | tail -1)"
stop

serve shards 512m
java -cp "$work/classes" ShardReaders $port $lectus | while read -r line; do row 'readers of shards' "$line"; done
stop
