#!/usr/bin/env bash
# Tries the image and the compose files in a real engine. From the top of the repository, once the jar is built:
#
#   docker/test.sh                  with docker and its compose plugin
#   ENGINE=podman docker/test.sh    with podman from 4.7 on, which has "podman compose", and docker-compose
#   IMAGE=lectus:0.1 docker/test.sh --image    an image that is there already, as that of a release, and no compose files
#
# OPTIONS are given to each "run" of the engine. SECONDS_OF_LOAD (120) is how long a container of each size is loaded.
# Each line says "ok" or what is wrong; the exit status is 1 if anything is.
set -uo pipefail
cd "$(dirname "$0")/.."

engine=${ENGINE:-docker}
image=${IMAGE:-lectus-test}
name=lectus-test
options=${OPTIONS:-}
seconds=${SECONDS_OF_LOAD:-120}
scratch=$(mktemp -d)
wrong=0
made_password=

ok() { echo "ok: $1"; }
bad() { echo "WRONG: $1"; wrong=1; }
check() { # what it shows, command…
  local what=$1
  shift
  if "$@" >"$scratch/output" 2>&1; then ok "$what"; else bad "$what: $(tail -n 3 "$scratch/output" | tr '\n' ' ')"; fi
}
until_true() { # seconds, command…
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || return 1
    sleep 1
  done
}
remove() { $engine rm --force --volumes $name >/dev/null 2>&1; $engine volume rm --force $name >/dev/null 2>&1; }
compose() { $engine compose --project-name $name "$@"; }
clean() {
  remove
  compose -f docker/compose.single.yaml down --volumes >/dev/null 2>&1
  compose -f docker/compose.yaml -f "$scratch/embedded.yaml" down --volumes >/dev/null 2>&1
  [ -z "$made_password" ] || rm -f docker/lectus-password
  rm -rf "$scratch"
}
trap clean EXIT

run() { # arguments of the engine…, -- and arguments of the image
  local before=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do before+=("$1"); shift; done
  [ $# -eq 0 ] || shift
  remove
  # shellcheck disable=SC2086
  $engine run $options --detach --name $name --publish 127.0.0.1:5994:5984 -e COUCHDB_USER=root -e COUCHDB_PASSWORD=secret \
    "${before[@]}" $image "$@"
}
get() { curl --silent --fail --max-time 10 --user root:secret "http://127.0.0.1:5994$1"; }
is_up() { get /_up; }
status() { $engine inspect --format '{{.State.ExitCode}}' $name; }
refuses() { # sentence, then as run
  local sentence=$1
  shift
  run "$@" >/dev/null || return 1
  until_true 60 stopped || return 1
  $engine logs $name 2>&1 | grep -q "$sentence" && [ "$(status)" = 78 ]
}
stopped() { [ "$($engine inspect --format '{{.State.Running}}' $name)" = false ]; }
serves() { run "$@" >/dev/null && until_true 60 is_up; }
says() { $engine logs $name 2>&1 | grep -q "$1"; }
every_line_is_json() { ! $engine logs $name 2>&1 | grep -v '^{.*}$'; }
healthy() { $engine exec $name lectus health; }

# podman keeps a health check only in images of Docker's format.
export BUILDAH_FORMAT=docker
if [ "${1-}" != --image ]; then
  check "the image is built" $engine build -f docker/Dockerfile -t $image --build-arg VERSION=test .
  [ $wrong = 0 ] || exit 1
fi
check "it has labels" sh -c "$engine inspect $image | grep -q org.opencontainers.image.title"

check "without an admin it refuses, with a status of its own" refuses "there is no admin yet" -e COUCHDB_USER= -e COUCHDB_PASSWORD=
check "a bad key is refused with the same status" refuses "no configuration key" -e LECTUS_PROT=1
check "a volume of CouchDB's image is refused" refuses "There is a volume at /opt/couchdb/data" -v $name:/opt/couchdb/data

check "it serves" serves
check "it says how memory is divided" says "Memory: "
check "it is healthy" healthy
check "lectus is on its path" $engine exec $name lectus --version
check "names in UTF-8 are those that were given" sh -c "
  curl -sf -u root:secret -X PUT 'http://127.0.0.1:5994/_node/_local/_config/admins/j%C3%BCrgen' -d '\"pass\"' &&
  curl -sf -u jürgen:pass http://127.0.0.1:5994/_session | grep -q jürgen"
check "it stops in order" sh -c "$engine stop --time 95 $name && $engine logs $name 2>&1 | grep -q 'Lectus has stopped'"
check "its status is that of SIGTERM" sh -c "[ \$($engine inspect --format '{{.State.ExitCode}}' $name) = 143 ]"
check "other arguments leave it reachable" serves -- serve --cors-origin https://app.example
serves -e LECTUS_LOG_FORMAT=json -e JDK_JAVA_OPTIONS=-Xmx256m >/dev/null 2>&1
check "every line is JSON" every_line_is_json
check "what CouchDB's image knows is named" serves -e COUCHDB_SECRET=x -e NODENAME=a
check "  in a line" says "ignored in the environment: COUCHDB_SECRET, NODENAME"

for user in 1000 1000650000:0; do
  check "user $user serves from a new volume" serves --user $user -v $name:/var/lib/lectus/data
done
check "a file system that is read only will do" serves --read-only --tmpfs /tmp:exec --cap-drop ALL
run -e LECTUS_PORT=6000 -e LECTUS_ACCESS_REQUIRE_VALID_USER=true >/dev/null
check "any port is healthy, with a log-in that everything needs" until_true 60 healthy
run -e LECTUS_HTTP_PROXY_PROTOCOL=0.0.0.0/0 >/dev/null
check "behind the PROXY protocol it is healthy, too" until_true 60 healthy
check "with http.hosts its own address is served" serves -e LECTUS_HTTP_HOSTS=db.example
check "  to a probe" sh -c "
  ip=\$($engine inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' $name)
  [ -z \"\$ip\" ] || curl -sf -u root:secret http://\$ip:5984/_up"

printf 'secret\n' >"$scratch/password"
chmod 644 "$scratch/password"
check "secrets are in files" serves -e COUCHDB_PASSWORD= -e COUCHDB_PASSWORD_FILE=/run/password -v "$scratch/password:/run/password:ro"
check "  and not in what inspect shows" sh -c "! $engine inspect --format '{{.Config.Env}}' $name | grep -q =secret"

# What takes memory, all at once for a while: each loop is a client, which may be told to come later.
load() {
  local base=http://root:secret@127.0.0.1:5994/load json='Content-Type: application/json' end=$((SECONDS + seconds)) client
  curl -sf -X PUT $base >/dev/null || return 1
  awk 'BEGIN { printf "{\"docs\":["; for (i = 0; i < 500; i++) printf "{\"v\":%d,\"t\":\"%01000d\"},", i, i; print "{}]}" }' >"$scratch/docs"
  awk 'BEGIN { printf "{\"v\":["; for (i = 0; i < 800000; i++) printf "%d,", i % 10; printf "0],\"t\":\"%05000000d\"}", 1 }' >"$scratch/large"
  head -c 20000000 /dev/urandom >"$scratch/attachment"
  while_it_lasts() { # arguments of curl, with a new number each time
    while [ $SECONDS -lt $end ]; do
      curl -s -o /dev/null --max-time $((end - SECONDS + 1)) "${@//NUMBER/$RANDOM$RANDOM}" || sleep 0.2
    done
  }
  for client in 1 2 3 4; do
    while_it_lasts -H "$json" --data-binary @"$scratch/docs" $base/_bulk_docs &
    while_it_lasts -X PUT --data-binary @"$scratch/large" $base/large-NUMBER &
    while_it_lasts -T "$scratch/attachment" $base/NUMBER/f &
    while_it_lasts "$base/_all_docs?include_docs=true&attachments=true" &
    while_it_lasts -H "$json" -d '{"selector":{"v":{"$gt":100},"t":{"$regex":"7"}}}' $base/_find &
  done
  for client in $(seq 30); do
    while_it_lasts --limit-rate 100k "$base/_changes?feed=continuous&include_docs=true" &
    while_it_lasts --limit-rate 100k "$base/_all_docs?include_docs=true" &
  done
  while [ $SECONDS -lt $end ]; do $engine exec $name lectus health >/dev/null; sleep 5; done
  wait
}
unharmed() {
  [ "$($engine inspect --format '{{.State.OOMKilled}} {{.State.Running}}' $name)" = "false true" ] && until_true 20 is_up
}
for size in 256:256 512:512 1g:1024 2g:2048; do
  limit=${size%:*}
  case $limit in *g) ;; *) limit=${limit}m ;; esac
  check "$limit serve" serves --memory $limit --memory-swap $limit
  check "  which the start knows" says "Memory: .* of ${size#*:} MB"
  says "too little memory" && bad "  and finds too little"
  load >/dev/null 2>&1
  check "  and are enough under load" unharmed
done
check "a heap that leaves too little is warned of" serves --memory 512m -e JDK_JAVA_OPTIONS=-Xmx400m
check "  in a line" says "leave too little memory"
remove
[ "${1-}" != --image ] || exit $wrong

if [ ! -e docker/lectus-password ]; then
  made_password=yes
  echo secret >docker/lectus-password
fi
composed() { curl -sf --max-time 10 http://127.0.0.1:5984/_up; }
check "the single server's compose file starts" compose -f docker/compose.single.yaml up --build --detach
check "  and serves" until_true 120 composed
check "  and shows no password" sh -c "! $engine inspect \$($engine compose --project-name $name -f docker/compose.single.yaml ps -q) | grep -q COUCHDB_PASSWORD="
check "  and ends" compose -f docker/compose.single.yaml down --volumes

# Three servers, each with the embedded store in place of FoundationDB.
{
  printf 'services:\n  foundationdb: !reset null\n  foundationdb-setup: !reset null\n'
  for server in lectus-1 lectus-2 lectus-3; do
    printf '  %s:\n    environment:\n      LECTUS_STORE: embedded\n      LECTUS_DATA: /tmp/data\n' $server
    printf '    depends_on: !reset {}\n'
  done
} >"$scratch/embedded.yaml"
check "three servers start behind HAProxy" compose -f docker/compose.yaml -f "$scratch/embedded.yaml" up --build --detach
check "  and serve" until_true 180 composed
check "  as members of one cluster" until_true 60 sh -c "[ \$(curl -sf -u admin:\$(cat docker/lectus-password) http://127.0.0.1:5984/_membership | grep -o lectus@ | sort | wc -l) -ge 6 ]"
rolling() {
  local server
  for server in lectus-1 lectus-2; do
    compose -f docker/compose.yaml -f "$scratch/embedded.yaml" stop $server || return 1
    for _ in $(seq 20); do composed || return 1; done
  done
}
check "  and while two of them stop" rolling
compose -f docker/compose.yaml -f "$scratch/embedded.yaml" stop lectus-3 >/dev/null 2>&1
nobody() { curl -si --max-time 10 http://127.0.0.1:5984/_up | tr -d '\r' >"$scratch/answer"; grep -qi '^retry-after: 5' "$scratch/answer" && grep -q '"service_unavailable"' "$scratch/answer"; }
check "  without a server the answer is CouchDB's, with Retry-After" until_true 30 nobody

exit $wrong
