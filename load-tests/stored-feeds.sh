#!/usr/bin/env bash
# What stored feeds cost writers, how long reading a small channel of a large database takes, and how
# late rows are for listeners of many channels; prints tables. Needs JDK 17+, Node.js, curl and the
# packaged jar; some 2 minutes, and for 10 000 connections 3 GB of memory and 20 100 file descriptors, since the
# server takes no more connections than half of its descriptors.
#
#   load-tests/stored-feeds.sh
#
# DOCUMENTS, WRITTEN, LISTENERS and SECONDS_MEASURED set how many of each there are. CLASSPATH names classes to
# run in place of the jar.
set -euo pipefail
cd "$(dirname "$0")/.."

port=${PORT:-5985}
classpath=${CLASSPATH:-target/lectus.jar}
work=$(mktemp -d)
lectus=
cleanup() {
  if [ -n "$lectus" ]; then kill "$lectus" && wait "$lectus" || true; fi
  rm -rf "$work"
}
trap cleanup EXIT
ulimit -n "$(ulimit -Hn)"

java -Xmx3g -cp "$classpath" lectus.Lectus serve --port "$port" --data "$work/data" >"$work/log" 2>&1 & lectus=$!
base=http://127.0.0.1:$port
for _ in $(seq 100); do curl -fs "$base/_up" >/dev/null && break; sleep 0.1; done

node load-tests/stored-feeds.mjs "$base"
javac -d "$work/classes" load-tests/{FilteredFeeds,FeedSockets,LoadedServer}.java
java -cp "$work/classes" FilteredFeeds "$port" "$lectus" stored "${LISTENERS:-10000}" 50 "${SECONDS_MEASURED:-20}"
