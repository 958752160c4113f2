#!/bin/sh
# Writes an archive of the classes that a server needs to start and to answer its first requests. With
# -XX:SharedArchiveFile=ARCHIVE the same JDK maps them into memory instead of reading and verifying each.
#
#   docker/class-archive.sh JAR ARCHIVE [PORT]
set -eu

base=http://127.0.0.1:${3:-5984}
work=$(mktemp -d)
java -Xmx512m -XX:ArchiveClassesAtExit="$2" -jar "$1" \
  serve --port "${3:-5984}" --data "$work/data" >"$work/log" 2>&1 & server=$!
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT

up=
for _ in $(seq 300); do
  if curl -fs "$base/_up" >/dev/null; then up=yes; break; fi
  sleep 0.1
done
[ "$up" ] || { cat "$work/log" >&2; exit 1; }

get() { curl -fsS --max-time 5 "$base/$1" >/dev/null; }
send() { # method, path, JSON
  curl -fsS -X "$1" -H 'Content-Type: application/json' -d "$3" "$base/$2" >/dev/null
}
send PUT warm '{}'
send PUT warm/a '{"n":1,"s":"x","list":[1.5,true,null],"o":{"p":{}}}'
send POST warm/_bulk_docs '{"docs":[{"_id":"b","n":2},{"_id":"c","n":3},{"n":4}]}'
send POST warm/_all_docs '{"keys":["a","none"],"include_docs":true}'
send POST warm/_bulk_get '{"docs":[{"id":"a"}]}'
send POST warm/_revs_diff '{"a":["1-967a00dff5e02add41819138abb3284d"]}'
send POST 'warm/_changes?filter=_selector' '{"selector":{"n":{"$gt":1}}}'
send PUT warm/_local/checkpoint '{"n":1}'
get warm/a
get warm/_local/checkpoint
get warm
get warm/_all_docs?include_docs=true
get warm/_changes?include_docs=true
get 'warm/_changes?feed=continuous&timeout=300'
get 'warm/_changes?feed=longpoll&since=now&timeout=300'
get _all_dbs
kill "$server"
wait "$server" || true
[ -s "$2" ] || { echo "no archive was written" >&2; cat "$work/log" >&2; exit 1; }
