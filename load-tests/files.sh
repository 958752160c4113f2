#!/usr/bin/env bash
# Stores real files as documents in both layouts: maps, tables of browsers, and a map in the shape of canada.json.
# What comes back has to be the same JSON with its members in the same order, under the same revision, and "lectus
# check" has to find nothing. Needs JDK 17+, Node.js 18+, npm with its registry, and the packaged jar.
#
#   load-tests/files.sh    less than a minute
set -euo pipefail
cd "$(dirname "$0")/.."

jar=target/lectus.jar
port=5986
work=$(mktemp -d)
cleanup() {
  kill "$lectus" 2>/dev/null || true
  wait
  rm -rf "$work"
}
lectus=
trap cleanup EXIT

npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work/packages" \
  world-atlas@2 us-atlas@3 caniuse-db@1.0.30001700 @mdn/browser-compat-data@5
java -Xmx512m -jar "$jar" serve --port $port --data "$work/data" >"$work/log" 2>&1 &
lectus=$!
for _ in $(seq 100); do curl -fs "http://127.0.0.1:$port/_up" >/dev/null && break; sleep 0.1; done
node load-tests/files.mjs "http://127.0.0.1:$port" "$work/packages/node_modules"
kill "$lectus"
wait "$lectus" || true
java -jar "$jar" check --data "$work/data"
