#!/usr/bin/env bash
# Measures 100 feeds on one HTTP/2 connection beside 100 connections of HTTP/1.1.
# Needs JDK 17+, curl, Node.js 18+ and the packaged jar; less than a minute.
set -euo pipefail
cd "$(dirname "$0")/.."

jar=target/lectus.jar
port=5985
[ -f "$jar" ] || { echo "Build the jar first: mvn -q package -DskipTests" >&2; exit 1; }
work=$(mktemp -d)
java -Xmx512m -jar "$jar" serve --port $port --data "$work/data" >"$work/log" 2>&1 & lectus=$!
trap 'kill $lectus 2>/dev/null || true; wait; rm -rf "$work"' EXIT
for _ in $(seq 200); do curl -fs http://127.0.0.1:$port/_up >/dev/null && break; sleep 0.1; done
node load-tests/http2.mjs $port
