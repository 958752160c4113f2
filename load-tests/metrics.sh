#!/usr/bin/env bash
# Measures what counting costs: a server beside one that does not count, in turns. The first is scraped every five
# seconds meanwhile, as Prometheus does. Needs JDK 17+, wrk, curl and the packaged jar; a quarter of a minute a round.
set -euo pipefail
cd "$(dirname "$0")/.."

jar=${JAR:-target/lectus.jar}
rounds=${ROUNDS:-7}
seconds=${SECONDS_EACH:-3}
connections=${CONNECTIONS:-16}
work=$(mktemp -d)
pids=()
cleanup() { kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"; }
trap cleanup EXIT

start() { # name, port, JVM options
  java -Xmx512m ${3:-} -cp "$jar" lectus.Lectus serve --port "$2" --set access-log=false --data "$work/$1" \
    >"$work/$1.log" 2>&1 & pids+=($!)
  for _ in $(seq 200); do curl -fs "http://127.0.0.1:$2/_up" >/dev/null && break; sleep 0.1; done
  curl -fs -X PUT "http://127.0.0.1:$2/db" >/dev/null
  curl -fs -X PUT "http://127.0.0.1:$2/db/doc" -d '{"name":"a document","n":1}' >/dev/null
}
start with 5987
start without 5988 -Dlectus.uncounted=true
while sleep 5; do curl -fs http://127.0.0.1:5987/_node/_local/_prometheus >/dev/null || true; done & pids+=($!)

rate() { # port, what
  if [ "$2" = GET ]; then wrk -t2 -c"$connections" -d"${seconds}s" "http://127.0.0.1:$1/db/doc"
  else wrk -t2 -c"$connections" -d"${seconds}s" -s load-tests/wrk/put.lua "http://127.0.0.1:$1/db"; fi |
    awk '/Non-2xx/ { exit 1 } /Requests\/sec/ { printf "%.0f", $2 }'
}
# The median of the rounds' ratios: each round has both servers twice, in the order with, without, without, with.
echo '| measured | with | without | cost |'
echo '|---|---|---|---|'
for what in GET PUT; do
  rate 5987 $what >/dev/null; rate 5988 $what >/dev/null
  for _ in $(seq "$rounds"); do
    a=$(rate 5987 $what); b=$(rate 5988 $what); c=$(rate 5988 $what); d=$(rate 5987 $what)
    awk -v w=$((a + d)) -v o=$((b + c)) 'BEGIN { printf "%.5f %d %d\n", 1 - w / o, w / 2, o / 2 }'
  done | sort -n | awk -v what=$what \
    '{ cost[NR] = $1; w[NR] = $2; o[NR] = $3 }
     END { m = int((NR + 1) / 2); printf "| %s | %d a second | %d a second | %.1f %% |\n", what, w[m], o[m], 100 * cost[m] }'
done
