#!/usr/bin/env bash
# Measures what users cost: reads with a password beside reads without, and good log-ins beside 100 000
# wrong ones. Needs JDK 17+, wrk, curl and the packaged jar; some three minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

jar=${JAR:-target/lectus.jar}
port=5986
base=http://127.0.0.1:$port
seconds=${SECONDS_EACH:-10}
wrong=${WRONG:-100000}
rate=${WRONG_A_SECOND:-1000}
work=$(mktemp -d)
lectus=
cleanup() { [ -z "$lectus" ] || kill "$lectus" 2>/dev/null || true; wait; rm -rf "$work"; }
trap cleanup EXIT

row() { printf '| %s | %s |\n' "$1" "$2"; }
gets() { # connections, Authorization or nothing
  wrk -t$(($1 < 2 ? 1 : 2)) -c"$1" -d"${seconds}s" ${2:+-H "Authorization: $2"} $base/public/doc |
    awk '/Non-2xx/ { exit 1 } /Requests\/sec/ { printf "%.0f", $2 }'
}

COUCHDB_USER=admin COUCHDB_PASSWORD=secret java -Xmx512m -cp "$jar" lectus.Lectus serve --port $port \
  --set access-log=false --data "$work/data" >"$work/log" 2>&1 & lectus=$!
for _ in $(seq 200); do curl -fs $base/_up >/dev/null && break; sleep 0.1; done
admin="-u admin:secret -H Content-Type:application/json"
curl -fs $admin -X PUT $base/_users >/dev/null
curl -fs $admin -X PUT $base/public >/dev/null
curl -fs $admin -X PUT $base/public/_security -d '{"members":{},"admins":{}}' >/dev/null
curl -fs $admin -X PUT $base/public/doc -d '{"name":"a document","n":1}' >/dev/null
curl -fs $admin -X PUT $base/_users/org.couchdb.user:ann \
  -d '{"name":"ann","type":"user","roles":[],"password":"apple"}' >/dev/null

basic="Basic $(printf 'ann:apple' | base64)"
gets 64 >/dev/null
gets 64 "$basic" >/dev/null
echo '| measured | figure |'
echo '|---|---|'
for connections in 64 1; do
  # In turns, so that a machine that changes its speed changes both.
  without1=$(gets $connections); with1=$(gets $connections "$basic")
  with2=$(gets $connections "$basic"); without2=$(gets $connections)
  row "GET at $connections connections, without and with a password" \
    "$(((without1 + without2) / 2)) and $(((with1 + with2) / 2)) a second, $((((with1 + with2) * 200 / (without1 + without2) + 1) / 2)) %"
done
java load-tests/LogIns.java $port /public/doc ann apple "$wrong" "$rate" |
  while read -r line; do row 'log-ins' "$line"; done
