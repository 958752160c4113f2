#!/usr/bin/env bash
# Compares writers into one database with as many writers into 256 of them, in turns, and prints a
# table. Needs JDK 17+, wrk, curl and the packaged jar; some 2 minutes.
#
#   load-tests/writers.sh             a server of its own
#   load-tests/writers.sh URL         a running server, which keeps the databases: for
#                                     instance one whose commits take 2 ms (lectus.bench.SlowCommits)
set -euo pipefail
cd "$(dirname "$0")/.."

jar=target/lectus.jar
seconds=${SECONDS_EACH:-4} warm=${WARM:-20} rounds=${ROUNDS:-3}
export DATABASES=${DATABASES:-256}
work=$(mktemp -d)
lectus=
cleanup() {
  if [ -n "$lectus" ]; then kill "$lectus" && wait "$lectus" || true; fi
  rm -rf "$work"
}
trap cleanup EXIT

base=${1:-}
if [ -z "$base" ]; then
  [ -f "$jar" ] || { echo "Build the jar first: mvn -q package -DskipTests" >&2; exit 1; }
  base=http://127.0.0.1:5985
  java -Xmx512m -jar "$jar" serve --port 5985 --data "$work/data" >"$work/log" 2>&1 & lectus=$!
fi
for _ in $(seq 100); do curl -fs "$base/_up" >/dev/null && break; sleep 0.1; done

row() { printf '| %s | %s | %s |\n' "$1" "$2" "$3"; }
median() { printf '%s\n' "$@" | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
# Prints requests a second; an unsuccessful answer fails the run.
rate() { # connections, script, url, seconds
  local threads=$(( $1 < 2 ? 1 : 2 )) out
  out=$(wrk -t$threads -c"$1" -d"${4:-$seconds}s" -s "$2" "$3")
  if grep -q 'Non-2xx\|Socket errors: connect [1-9]' <<<"$out"; then echo "$out" >&2; exit 1; fi
  awk '/Requests\/sec/ { print $2 }' <<<"$out"
}
one() { rate "$1" load-tests/wrk/put.lua "$base/one" "${2:-}"; }
many() { rate "$1" load-tests/wrk/put-many.lua "$base/many" "${2:-}"; }

curl -s -X PUT "$base/one" >/dev/null
for i in $(seq 0 $((DATABASES - 1))); do echo "url = $base/many-$i"; done |
  curl -s -X PUT -K - >/dev/null
one 64 "$warm" >/dev/null
many 64 $((warm / 2)) >/dev/null

echo '| measured | figure | beside |'
echo '|---|---|---|'
row 'PUT, 1 connection' "$(one 1)/s" ''
for connections in ${CONNECTIONS:-64 256}; do
  ones=() manys=()
  for _ in $(seq "$rounds"); do
    ones+=("$(one "$connections")")
    manys+=("$(many "$connections")")
  done
  alone=$(median "${ones[@]}") spread=$(median "${manys[@]}")
  row "PUT, $connections connections, 1 database" "$alone/s" ''
  row "PUT, $connections connections, $DATABASES databases" "$spread/s" \
    "$(awk -v a="$spread" -v b="$alone" 'BEGIN { printf "%.0f %%", 100 * a / b }') of one database"
done
