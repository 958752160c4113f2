#!/usr/bin/env bash
# Measures 9 900 live feeds of as many users beside 9 900 of an admin, and how soon the feeds of a role that
# is taken away end. Needs JDK 17+, curl, 20 000 file descriptors and the packaged jar; some three minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

jar=${JAR:-target/lectus.jar}
port=5988
listeners=${LISTENERS:-9900}
work=$(mktemp -d)
lectus=
cleanup() { [ -z "$lectus" ] || kill "$lectus" 2>/dev/null || true; wait; rm -rf "$work"; }
trap cleanup EXIT

ulimit -n 65536 2>/dev/null || ulimit -n "$(ulimit -Hn)"
COUCHDB_USER=admin COUCHDB_PASSWORD=secret java -Xmx512m -cp "$jar" lectus.Lectus serve --port $port \
  --set access-log=false --set http.max-connections=20000 --set access.hash-iterations=1000 \
  --data "$work/data" >"$work/log" 2>&1 & lectus=$!
for _ in $(seq 200); do curl -fs http://127.0.0.1:$port/_up >/dev/null && break; sleep 0.1; done
java load-tests/UserFeeds.java $port $lectus "$listeners"
