#!/usr/bin/env bash
# What functions of design documents cost: PUT at 64 connections without a validator, with one in JavaScript and with
# a declarative one; another database's PUT beside a validator that loops for ever; rows to 1 000 feeds with ten
# filters; the memory of the children. Prints a table. Needs JDK 17+, wrk, curl, 20 000 file descriptors and the
# packaged jar; some three minutes. SECONDS_EACH and JAR may be set.
set -euo pipefail
cd "$(dirname "$0")/.."

jar=${JAR:-target/lectus.jar}
[ -f "$jar" ] || { echo "Build the jar first: mvn -q package -DskipTests" >&2; exit 1; }
port=5988
base=http://127.0.0.1:$port
seconds=${SECONDS_EACH:-15}
work=$(mktemp -d)
lectus=
loop=
cleanup() {
  [ -z "$loop" ] || kill "$loop" 2>/dev/null || true
  [ -z "$lectus" ] || kill "$lectus" 2>/dev/null || true
  wait
  rm -rf "$work"
}
trap cleanup EXIT

ulimit -n 65536 2>/dev/null || ulimit -n "$(ulimit -Hn)"
java -Xmx512m -jar "$jar" serve --port $port --set access-log=false --data "$work/data" >"$work/log" 2>&1 & lectus=$!
for _ in $(seq 200); do curl -fs $base/_up >/dev/null && break; sleep 0.1; done
case $(curl -fs $base/_node/_local/_versions) in *'"v8"'*) ;; *) echo "Functions run on Rhino here." ;; esac

create() { curl -fsS -X PUT "$base/$1" >/dev/null; }
design() { curl -fsS -X PUT "$base/$1/_design/d" -H 'Content-Type: application/json' -d "$2" >/dev/null; }

# puts DATABASE CONNECTIONS: writes; prints the rate and the 99th percentile.
puts() {
  wrk -t2 -c"$2" -d"${seconds}s" --latency -s load-tests/wrk/put.lua "$base/$1" >"$work/wrk"
  if grep -q Non-2xx "$work/wrk"; then grep Non-2xx "$work/wrk" >&2; fi
  awk '/Requests\/sec/ {rate=$2} $1=="99%" {p99=$2} END {print rate, p99}' "$work/wrk"
}

millis() { awk -v t="$1" 'BEGIN { n = t + 0; print (t ~ /us$/ ? n / 1000 : t ~ /ms$/ ? n : n * 1000) }'; }
share() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
children() { ps -o rss= --ppid "$lectus" | awk '{n++; kb += $1} END {printf "%d children, %d MB", n, kb / 1024}'; }

for db in none javascript declarative loops other; do create $db; done
design javascript '{"validate_doc_update":"function(newDoc, oldDoc, userCtx) { if (newDoc.type === \"secret\" && userCtx.roles.indexOf(\"boss\") < 0) throw {forbidden: \"No secrets.\"}; }"}'
design declarative '{"language":"query","validate_doc_update":{"newDoc":{"m01":{"$type":"number"}}}}'
design loops '{"validate_doc_update":"function(newDoc) { if (newDoc.loops) for (;;) {} }"}'

for db in none javascript declarative; do puts $db 64 >/dev/null; done
read -r none _ <<<"$(puts none 64)"
read -r javascript _ <<<"$(puts javascript 64)"
judging=$(children)
read -r declarative _ <<<"$(puts declarative 64)"

# The other database has a validator, too: its calls are in the same pool.
design other '{"validate_doc_update":"function(newDoc) { if (newDoc.type === \"secret\") throw {forbidden: \"No secrets.\"}; }"}'
puts other 8 >/dev/null
read -r _ rest <<<"$(puts other 8)"
(while true; do curl -s -o /dev/null -X POST "$base/loops" -H 'Content-Type: application/json' -d '{"loops":true}' || sleep 1; done) & loop=$!
sleep 8
read -r _ beside <<<"$(puts other 8)"
looping=$(children)
kill "$loop" && wait "$loop" 2>/dev/null || true
loop=

mkdir -p "$work/classes"
javac -d "$work/classes" load-tests/FilteredFeeds.java load-tests/FeedSockets.java load-tests/LoadedServer.java
feeds=$(java -cp "$work/classes" FilteredFeeds $port "$lectus" functions 1000 50 "$seconds")
filtering=$(children)

echo "load average $(cut -d' ' -f1-3 /proc/loadavg)"
row() { printf '%-58s %14s   %s\n' "$1" "$2" "$3"; }
row "PUT a second, 64 connections, no validator" "$none" ""
row "  a validator in JavaScript" "$javascript" "$(share "$javascript" "$none") (>= 0.50); $judging"
row "  a declarative validator" "$declarative" "$(share "$declarative" "$none") (>= 0.85)"
row "PUT of a database at rest, 8 connections, p99" "$rest" ""
row "  beside a validator that loops" "$beside" \
  "$(share "$(millis "$beside")" "$(millis "$rest")") times (<= 2); $looping"
echo "1 000 feeds with ten filters, 50 writes/s (p99 <= 20 ms); $filtering"
echo "  $feeds"
