#!/bin/bash
# Starts servers in turns and prints the medians of what passes until the address is announced and of the CPU time
# until then, in milliseconds: for each jar as it is, and with an archive (lectus archive). Linux only.
#
#   ROUNDS=7 JAVA=java load-tests/starts.sh target/lectus.jar [FORMER.jar …]
set -euo pipefail

java=${JAVA:-java}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
option=-XX:SharedArchiveFile
"$java" -XX:AOTMode=auto -version >/dev/null 2>&1 && option=-XX:AOTCache

start() { # name, JVM's arguments
  local name=$1 begun server
  shift
  rm -rf "$work/data" "$work/out"
  begun=$(date +%s%N)
  "$java" -Xmx512m "$@" serve --port 0 --data "$work/data" >"$work/out" 2>"$work/err" & server=$!
  until grep -qs 'listens on' "$work/out"; do
    kill -0 $server || { cat "$work/err"; exit 1; }
    sleep 0.01
  done
  echo "$(( ($(date +%s%N) - begun) / 1000000 )) $(awk '{ print ($14 + $15) * 10 }' /proc/$server/stat)" >>"$work/$name"
  kill $server
  wait $server || true
}

number=0
for jar in "$@"; do
  number=$((number + 1))
  "$java" -Xmx512m -jar "$jar" archive "$work/archive$number" >/dev/null 2>&1 || echo "$jar has no archive"
done
for _ in $(seq "${ROUNDS:-7}"); do
  number=0
  for jar in "$@"; do
    number=$((number + 1))
    start plain$number -jar "$jar"
    if [ -f "$work/archive$number" ]; then start with$number "$option=$work/archive$number" -jar "$jar"; fi
  done
done

median() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
number=0
for jar in "$@"; do
  number=$((number + 1))
  for kind in plain with; do
    [ -f "$work/$kind$number" ] || continue
    echo "$jar, $kind archive: $(cut -d' ' -f1 "$work/$kind$number" | median) ms, $(cut -d' ' -f2 "$work/$kind$number" | median) ms of CPU"
  done
done | sed 's/plain archive/without archive/'
