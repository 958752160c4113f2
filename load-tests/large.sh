#!/usr/bin/env bash
# Measures a large store: the time to open it, its memory and open files, and its GET and PUT compared with
# the same reads and writes straight on RocksDB, in the same files. Needs Linux, JDK 17+, wrk,
# curl, Node.js 18+ and the packaged jar.
#
#   load-tests/large.sh          6 000 000 documents, 27 GB, some 30 minutes
#   load-tests/large.sh 1        1 000 000 documents
set -euo pipefail
cd "$(dirname "$0")/.."

millions=${1:-6}
seconds=${SECONDS_EACH:-10}
classpath=${SERVER_CLASSPATH:-target/lectus.jar}
port=5989
base=http://127.0.0.1:$port
# A document takes some 4.5 kB in the store.
export DOCUMENTS=$((millions * 1000000))
work=$(mktemp -d "${WORK:-/tmp}/large.XXXXXX")
lectus=
cleanup() { [ -z "$lectus" ] || kill "$lectus" 2>/dev/null || true; wait; rm -rf "$work"; }
trap cleanup EXIT

row() { printf '| %s | %s |\n' "$1" "$2"; }
now() { date +%s%N; }
serve() { # folder; sets "took", the milliseconds until it answers
  local begin; begin=$(now)
  java -Xmx512m -cp "$classpath" lectus.Lectus serve --port $port --data "$work/$1" \
    --set access-log=false >"$work/log" 2>&1 & lectus=$!
  until curl -fs $base/_up >/dev/null; do
    kill -0 $lectus || { cat "$work/log" >&2; exit 1; }
    sleep 0.02
  done
  took=$((($(now) - begin) / 1000000))
}
stop() { kill $lectus; wait $lectus || true; lectus=; }
written() { awk '/^write_bytes/ { print $2 }' "/proc/$lectus/io"; }
until_at_rest() {
  local quiet=0 before
  while [ $quiet -lt 3 ]; do
    before=$(written); sleep 1
    if [ $(($(written) - before)) -lt 100000 ]; then quiet=$((quiet + 1)); else quiet=0; fi
  done
}
rss() { awk '/VmRSS/ { printf "%.0f MB", $2 / 1024 }' "/proc/$lectus/status"; }
files() { ls "/proc/$lectus/fd" | wc -l; }
rate() { # connections, script, url
  local out
  out=$(wrk -t$(($1 < 2 ? 1 : 2)) -c"$1" -d"${seconds}s" -s "$2" "$3")
  if grep -q 'Non-2xx\|Socket errors: connect [1-9]' <<<"$out"; then echo "$out" >&2; exit 1; fi
  awk '/Requests\/sec/ { printf "%.0f a second", $2 }' <<<"$out"
}

echo '| measured | figure |'
echo '|---|---|'
serve empty
row 'an empty store answers after' "$took ms"
stop

serve data
begin=$(now)
node load-tests/large.mjs $base/large $DOCUMENTS
until_at_rest
row "$DOCUMENTS documents loaded and at rest" "$((($(now) - begin) / 1000000000)) s, RSS $(rss)"
stop
row 'the store' "$(du -sm "$work/data" | cut -f1) MB in $(ls "$work"/data/rocks/*.sst | wc -l) files"

serve data
row 'it answers after' "$took ms, RSS $(rss), $(files) descriptors"
row 'GET of random documents, 1 connection' "$(rate 1 load-tests/wrk/get.lua $base/large)"
row 'GET of random documents, 64 connections' "$(rate 64 load-tests/wrk/get.lua $base/large)"
row "then" "RSS $(rss), $(files) descriptors"
row 'PUT, durable, 64 connections' "$(rate 64 load-tests/wrk/put.lua $base/large)"
row "then" "RSS $(rss), $(files) descriptors"
stop

# Last, since it writes rows that belong to no document into the store.
java -cp "$classpath" load-tests/StraightLarge.java "$work/data/rocks" $DOCUMENTS "$seconds"
