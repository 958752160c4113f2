#!/usr/bin/env bash
# How fast jobs build an index, by changes shards and workers: on the embedded store as it is, and
# with 5 and 50 ms more for each read and each commit, as behind a network. Needs JDK 17+ and Maven,
# some 3 minutes.
#
#   load-tests/jobs.sh
#
# DOCUMENTS sets how many each database has, MILLIS the delays. The processors' time hardly depends on
# what else the machine does.
set -euo pipefail
cd "$(dirname "$0")/.."

mvn -q -B -ntp test-compile dependency:build-classpath -Dmdep.outputFile=target/classpath
echo '| shards and workers | each read and commit | documents/s | × one shard | µs of processors for each |'
echo '|---|---|---|---|---|'
for millis in ${MILLIS:-0 5 50}; do
  java -Xmx1g -cp "target/test-classes:target/classes:$(cat target/classpath)" \
    lectus.bench.IndexJobsBenchmark "${DOCUMENTS:-200000}" "$millis" 2>/dev/null
done
