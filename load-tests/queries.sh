#!/usr/bin/env bash
# What indexes cost writers, how fast they are built, and what queries take; prints a table. Needs
# JDK 17+, Node.js, curl and the packaged jar; some 3 minutes.
#
#   load-tests/queries.sh             a server of its own
#   load-tests/queries.sh URL         a running server, which keeps the databases
#
# DOCUMENTS, WRITTEN and QUERIES set how many of each there are.
set -euo pipefail
cd "$(dirname "$0")/.."

jar=target/lectus.jar
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
  java -Xmx1g -jar "$jar" serve --port 5985 --data "$work/data" >"$work/log" 2>&1 & lectus=$!
fi
for _ in $(seq 100); do curl -fs "$base/_up" >/dev/null && break; sleep 0.1; done
node load-tests/queries.mjs "$base"
