#!/usr/bin/env bash
# Measures what counting costs: a server beside one that does not count, and which nobody scrapes. The first is scraped
# every five seconds, as Prometheus does. They answer in turns of a quarter of a second (InTurns.java). Two processes
# with the same code differ by some percent, because the JVM compiles it differently, so there are several pairs; in
# every second one the servers start and answer in the other order. Needs JDK 17+, curl and the packaged jar.
#
#   load-tests/metrics.sh              five pairs, eight minutes
#   UNCOUNTED= load-tests/metrics.sh   both servers count: how far two equal servers are apart
set -euo pipefail
cd "$(dirname "$0")/.."

jar=${JAR:-target/lectus.jar}
pairs=${PAIRS:-5}
seconds=${SECONDS_EACH:-20}
warm=${WARM_SECONDS:-20}
connections=${CONNECTIONS:-16}
kinds=${KINDS:-GET PUT}
counted=${COUNTED:-}
uncounted=${UNCOUNTED--Dlectus.uncounted=true}
work=$(mktemp -d)
declare -A pid=() port=([with]=15987 [without]=15988)
stop() { kill "${pid[@]}" 2>/dev/null || true; wait; pid=(); }
cleanup() { stop; rm -rf "$work"; }
trap cleanup EXIT

start() { # with|without, JVM options
  local at=http://127.0.0.1:${port[$1]}
  # shellcheck disable=SC2086
  java -Xmx512m $2 -cp "$jar" lectus.Lectus serve --port "${port[$1]}" --set access-log=false --data "$work/$1" \
    >"$work/$1.log" 2>&1 & pid[$1]=$!
  for _ in $(seq 200); do curl -fs "$at/_up" >/dev/null && break; sleep 0.1; done
  kill -0 "${pid[$1]}" || { cat "$work/$1.log" >&2; exit 1; }
  curl -fs -X PUT "$at/db" >/dev/null
  curl -fs -X PUT "$at/db/doc" -d '{"name":"a document","n":1}' >/dev/null
}
scrape() { while sleep 5; do curl -fs "http://127.0.0.1:${port[with]}/_node/_local/_prometheus" >/dev/null || true; done; }
javac -d "$work" load-tests/InTurns.java
in_turns() { # what, seconds, first, second
  java -Xmx128m -cp "$work" InTurns "$1" "$connections" "$2" "${port[$3]}" "${pid[$3]}" "${port[$4]}" "${pid[$4]}"
}

for pair in $(seq "$pairs"); do
  if [ $((pair % 2)) = 1 ]; then order=(with without); else order=(without with); fi
  for side in "${order[@]}"; do
    if [ $side = with ]; then start with "$counted"; else start without "$uncounted"; fi
  done
  scrape & pid[scrape]=$!
  for what in $kinds; do
    in_turns "$what" "$warm" "${order[@]}" >/dev/null
    in_turns "$what" "$seconds" "${order[@]}" |
      if [ "${order[0]}" = with ]; then cat; else awk '{ print 1 / $1, 1 / $2, $4, $3, $6, $5 }'; fi |
      awk -v what="$what" '{ printf "%s %.5f %.5f %d %d %.2f %.2f\n", what, 1 - $1, $2 - 1, $3, $4, $5, $6 }' |
      tee -a "$work/pairs" >&2
  done
  stop; rm -rf "$work/with" "$work/without"
done

# The median of the pairs, the lowest and the highest.
column() { awk -v what="$1" -v c="$2" '$1 == what { print $c }' "$work/pairs" | sort -g; }
median() { awk '{ v[NR] = $1 } END { printf "%g\n", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
percent() { awk '{ printf "%.1f\n", 100 * $1 }'; }
row() { # what, name, columns of cost, with, without
  echo "| $2 | $(column "$1" "$4" | median) | $(column "$1" "$5" | median) | $(column "$1" "$3" | median | percent) % |" \
    "$(column "$1" "$3" | head -1 | percent) to $(column "$1" "$3" | tail -1 | percent) % |"
}
echo '| measured | with | without | cost, median of the pairs | lowest and highest pair |'
echo '|---|---|---|---|---|'
for what in $kinds; do
  row "$what" "$what, requests a second" 2 4 5
  row "$what" "$what, CPU time of a request in µs" 3 6 7
done
