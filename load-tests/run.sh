#!/usr/bin/env bash
# Compares Lectus with a bare Vert.x server and straight RocksDB, in one run on one machine, and
# prints the first table of docs/performance.md. Needs JDK 17+, wrk, curl, Node.js 18+ and the packaged jar.
#
#   load-tests/run.sh            everything, some 20 minutes
#   load-tests/run.sh --short    rounds of 4 s, otherwise the same, some 16 minutes
#   load-tests/run.sh --quick    rounds of 2 s, no sustained load, some 6 minutes
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=8 warm=40 documents=100000 sustained=18 million=1000000 replicated=50000
case "${1:-}" in
  --short) seconds=4 ;;
  --quick) seconds=2 warm=20 documents=20000 sustained=0 million=0 replicated=5000 ;;
esac

jar=target/lectus.jar
port=5985 hello_port=5986 straight_port=5988
base=http://127.0.0.1:$port
work=$(mktemp -d)
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap cleanup EXIT

[ -f "$jar" ] || { echo "Build the jar first: mvn -q package -DskipTests" >&2; exit 1; }
for tool in wrk curl node; do
  command -v "$tool" >/dev/null || { echo "$tool is needed" >&2; exit 1; }
done
[ -d src/test/clients/node_modules ] || npm --prefix src/test/clients ci --silent

until_answers() { for _ in $(seq 100); do curl -s -o /dev/null "$1" && return; sleep 0.1; done; exit 1; }
until_up() { for _ in $(seq 100); do curl -fs "$1" >/dev/null && return; sleep 0.1; done; exit 1; }

java -cp "$jar" load-tests/HelloServer.java $hello_port >/dev/null & pids+=($!)
java -Xmx512m -jar "$jar" serve --port $port --data "$work/data" >"$work/log" 2>&1 & lectus=$!; pids+=($lectus)
until_up http://127.0.0.1:$hello_port/
until_up $base/_up

row() { printf '| %s | %s | %s |\n' "$1" "$2" "$3"; }
percent() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.0f %%", 100 * a / b; else print "–" }'; }
median() { printf '%s\n' "$@" | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
# Prints requests a second; an unsuccessful answer fails the run.
rate() { # connections, script, url, seconds
  local threads=$(( $1 < 2 ? 1 : 2 )) out
  out=$(wrk -t$threads -c"$1" -d"${4:-$seconds}s" -s "$2" "$3")
  if grep -q 'Non-2xx\|Socket errors: connect [1-9]' <<<"$out"; then echo "$out" >&2; exit 1; fi
  awk '/Requests\/sec/ { print $2 }' <<<"$out"
}
seconds_of() { curl -fsS -o "$work/body" -w '%{time_total}' "$1"; }
rows_a_second() { # url; the median of five answers
  local times=()
  for _ in 1 2 3 4 5; do times+=("$(seconds_of "$1")"); done
  awk -v n="$(grep -c '^{"\(seq\|id\)"' "$work/body")" -v t="$(median "${times[@]}")" 'BEGIN { printf "%.0f", n / t }'
}
# Waits until nothing is left to flush and to compact: less than 5 % of a core for three seconds.
until_at_rest() {
  local quiet=0 before now
  while [ $quiet -lt 3 ]; do
    before=$(ticks); sleep 1; now=$(ticks)
    if [ $((now - before)) -lt 5 ]; then quiet=$((quiet + 1)); else quiet=0; fi
  done
}
ticks() { awk '{ print $14 + $15 }' "/proc/$lectus/stat"; }
rss_mb() { awk '/VmRSS/ { printf "%.0f", $2 / 1024 }' "/proc/$lectus/status"; }

echo '| measured | figure | beside |'
echo '|---|---|---|'

probe=$(java load-tests/SyncProbe.java "$work")
row 'fdatasync probe, 1 writer' "$probe/s" ''
java -cp "$jar" load-tests/StraightRocks.java "$work" >"$work/straight"
straight() { awk -v k="$1" '$1 == k { print $2 }' "$work/straight"; }
for group in 1 64 256; do
  row "straight RocksDB, synced groups of $group documents" "$(straight put-synced-$group)/s" ''
done
row 'straight RocksDB, scan of a document, 1 thread' "$(straight get-compacted)/s" ''

# Warm-up: the JVM goes on compiling for half a minute of full load.
curl -fsS -X PUT $base/warm-up >/dev/null
rate 64 load-tests/wrk/put.lua $base/warm-up $warm >/dev/null
rate 64 load-tests/wrk/put.lua http://127.0.0.1:$hello_port/warm-up 5 >/dev/null
node load-tests/load.mjs $base/warm 20000
for script in $base/warm http://127.0.0.1:$hello_port/warm; do
  DOCUMENTS=20000 rate 64 load-tests/wrk/get.lua "$script" 10 >/dev/null
done

# A machine's speed varies from second to second, so hello and Lectus take turns: medians of three.
declare -A beside alone
in_turns() { # what, connections, script, path
  local hellos=() ours=()
  for _ in 1 2 3; do
    hellos+=("$(rate "$2" "$3" "http://127.0.0.1:$hello_port/$4")")
    ours+=("$(rate "$2" "$3" "$base/$4")")
  done
  beside[$1,$2]=$(median "${hellos[@]}") alone[$1,$2]=$(median "${ours[@]}")
  row "$1, $2 connections" "${alone[$1,$2]}/s" "$(percent "${alone[$1,$2]}" "${beside[$1,$2]}") of hello's ${beside[$1,$2]}/s"
}
node load-tests/load.mjs $base/load $documents
export DOCUMENTS=$documents
for c in 64 1 16 256; do in_turns 'GET, right after the ingest' $c load-tests/wrk/get.lua load; done
until_at_rest
for c in 1 16 64 256; do in_turns 'GET, at rest' $c load-tests/wrk/get.lua load; done
curl -fsS -X PUT $base/put >/dev/null
for c in 1 16 64 256; do in_turns 'PUT, durable' $c load-tests/wrk/put.lua put; done
# A disk's speed varies from second to second, so one connection's PUT takes turns with the probe, and
# with a server that does nothing but HTTP and the synced write.
java -Xmx512m -cp "$jar" load-tests/StraightPut.java $straight_port "$work" >/dev/null 2>&1 & straight=$!; pids+=($straight)
until_answers http://127.0.0.1:$straight_port/
rate 1 load-tests/wrk/put.lua http://127.0.0.1:$straight_port/put 10 >/dev/null
probes=() puts=() straights=()
for _ in 1 2 3 4 5; do
  probes+=("$(java load-tests/SyncProbe.java "$work" 1)")
  puts+=("$(rate 1 load-tests/wrk/put.lua $base/put 4)")
  straights+=("$(rate 1 load-tests/wrk/put.lua http://127.0.0.1:$straight_port/put 4)")
  probes+=("$(java load-tests/SyncProbe.java "$work" 1)")
done
kill $straight
probe=$(median "${probes[@]}") put=$(median "${puts[@]}")
row 'fdatasync probe, in turns with one connection' "$probe/s" ''
row 'HTTP and a synced RocksDB write straight, 1 connection' "$(median "${straights[@]}")/s" "$(percent "$(median "${straights[@]}")" "$probe") of the probe"
row 'PUT, durable, 1 connection, in turns with them' "$put/s" "$(percent "$put" "$probe") of the probe, $(percent "$put" "$(median "${straights[@]}")") of straight"

(rate 16 load-tests/wrk/put.lua $base/put >"$work/mixed-put") & writers=$!
mixed_get=$(rate 16 load-tests/wrk/get.lua $base/load); wait $writers
mixed_put=$(cat "$work/mixed-put")
row '16 writers and 16 readers at once' "PUT $mixed_put/s, GET $mixed_get/s" \
  "$(percent "$mixed_put" "${alone[PUT, durable,16]}") and $(percent "$mixed_get" "${alone[GET, at rest,16]}") of each alone"

row '_changes, whole' "$(rows_a_second "$base/load/_changes") rows/s" ''
row '_changes, include_docs' "$(rows_a_second "$base/load/_changes?include_docs=true") rows/s" ''
row '_all_docs, whole' "$(rows_a_second "$base/load/_all_docs") rows/s" ''
row '_all_docs, include_docs' "$(rows_a_second "$base/load/_all_docs?include_docs=true") rows/s" ''

node load-tests/load.mjs $base/replicated $replicated
row "replicate.from of $replicated documents, PouchDB" "$(node load-tests/replicate.mjs $base/replicated) documents/s" ''

curl -fsS -X PUT $base/bulk >/dev/null
bulk=$(rate 4 load-tests/wrk/bulk.lua $base/bulk)
row '_bulk_docs of 500, 4 connections' "$(awk -v r="$bulk" 'BEGIN { printf "%.0f", r * 500 }') documents/s" ''
if [ $sustained -gt 0 ]; then
  lowest= sum=0
  for _ in $(seq $sustained); do
    now=$(rate 4 load-tests/wrk/bulk.lua $base/bulk 10 | awk '{ printf "%.0f", $1 * 500 }')
    sum=$((sum + now))
    if [ -z "$lowest" ] || [ "$now" -lt "$lowest" ]; then lowest=$now; fi
  done
  row "_bulk_docs sustained over $((sustained * 10)) s" "$((sum / sustained)) documents/s" "lowest 10 s: $lowest"
fi
if [ $million -gt 0 ]; then
  node load-tests/load.mjs $base/million $million
  row 'a database of a million documents' "$(rows_a_second "$base/million/_all_docs") rows/s" "RSS $(rss_mb) MB with -Xmx512m"
  node load-tests/hot.mjs $base/hot $million
  row "since=0 after $million updates of 100 documents" "$(awk -v t="$(seconds_of "$base/hot/_changes")" 'BEGIN { printf "%.0f ms", t * 1000 }')" ''
fi
row 'memory of the server' "RSS $(rss_mb) MB" '-Xmx512m'
