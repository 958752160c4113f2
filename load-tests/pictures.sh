#!/usr/bin/env bash
# Takes docs/pictures/dashboard.png and docs/pictures/fauxton.png: the dashboard and CouchDB's Fauxton in
# headless Chromium, over a server under load.
# Needs JDK 17+, Node.js 18+ and npm, Chromium and the packaged jar; about four minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

jar=${1:-target/lectus.jar}
port=5985
chromium=$(command -v chromium)
[ -f "$jar" ] || { echo "Build the jar first: mvn -q package -DskipTests" >&2; exit 1; }

work=$(mktemp -d)
lectus=
trap '[ -z "$lectus" ] || kill "$lectus" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cp src/test/clients/package.json src/test/clients/package-lock.json load-tests/pictures.mjs "$work"
(cd "$work" && npm ci --silent --no-audit --no-fund && npm pack --silent fauxton@1.2.6 && tar xf fauxton-1.2.6.tgz)

export COUCHDB_USER=ann COUCHDB_PASSWORD=secret
java -Xmx512m -jar "$jar" serve --port $port --data "$work/data" --utils "$work/package/dist/release" \
  --set access-log=false >"$work/log" 2>&1 & lectus=$!
for _ in $(seq 600); do curl -fs http://127.0.0.1:$port/_up >/dev/null && break; sleep 0.1; done
curl -fs http://127.0.0.1:$port/_up >/dev/null || { cat "$work/log" >&2; exit 1; }
mkdir -p docs/pictures
node "$work/pictures.mjs" "http://127.0.0.1:$port" "$chromium" docs/pictures
ls -l docs/pictures
