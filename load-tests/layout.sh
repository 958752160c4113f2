#!/usr/bin/env bash
# Compares the two layouts of documents in turns, in one server: rates, the server's CPU for each document, and bytes.
# Needs JDK 17+, Node.js 18+ and the packaged jar.
#
#   load-tests/layout.sh            some 8 minutes; fails if a bar of layout.mjs is not reached
#   load-tests/layout.sh 25         documents of 25 leaves only
#   load-tests/layout.sh --quick    a fifth of the documents, no bars
set -euo pipefail
cd "$(dirname "$0")/.."

jar=target/lectus.jar
port=5985
work=$(mktemp -d)
cleanup() {
  kill "$lectus" 2>/dev/null || true
  wait
  rm -rf "$work"
}
trap cleanup EXIT

# The compiler's threads are told from others while they live.
java -Xmx512m -XX:-UseDynamicNumberOfCompilerThreads -jar "$jar" serve --port $port --data "$work/data" >"$work/log" 2>&1 &
lectus=$!
for _ in $(seq 100); do curl -fs "http://127.0.0.1:$port/_up" >/dev/null && break; sleep 0.1; done

node load-tests/layout.mjs "http://127.0.0.1:$port" "$lectus" "$@"
