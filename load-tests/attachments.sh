#!/usr/bin/env bash
# Measures attachments of 1 kB, 1 MB and 100 MB in and out, beside straight writes and reads of RocksDB and a bare
# Vert.x server that keeps files. They take turns. Needs JDK 17+, curl, 3 GB of disk and the packaged jar; takes two
# minutes.
#
#   load-tests/attachments.sh                  seven rounds
#   ROUNDS=3 load-tests/attachments.sh         three
#   WORK=/mnt/disk load-tests/attachments.sh   on another disk
set -euo pipefail
cd "$(dirname "$0")/.."

classpath=${SERVER_CLASSPATH:-target/lectus.jar}
rounds=${ROUNDS:-7}
lectus=15993
bare=15994
work=$(mktemp -d "${WORK:-/tmp}/attachments.XXXXXX")
pids=()
cleanup() { kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"; }
trap cleanup EXIT

answers() { # port, process
  until curl -fs "http://127.0.0.1:$1/_up" >/dev/null; do
    kill -0 "$2" || { cat "$work"/*.log >&2; exit 1; }
    sleep 0.1
  done
}

mkdir "$work/files"
# shellcheck disable=SC2086
java -Xmx512m ${JAVA_FLAGS:-} -cp "$classpath" lectus.Lectus serve --port $lectus --data "$work/data" --set access-log=false \
  >"$work/lectus.log" 2>&1 & pids+=($!)
answers $lectus "${pids[0]}"
java -Xmx512m -cp "$classpath" load-tests/BareUploads.java $bare "$work/files" >"$work/bare.log" 2>&1 & pids+=($!)
answers $bare "${pids[1]}"
curl -fs -X PUT "http://127.0.0.1:$lectus/attachments" >/dev/null
java -Xmx512m -cp "$classpath" load-tests/Attachments.java $lectus $bare "$work/rocks" "$rounds"
