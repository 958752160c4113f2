#!/usr/bin/env bash
# Compares the embedded store with the same work done straight on RocksDB, with JMH; needs JDK 17+
# and Maven, some 15 minutes. Three rounds in turn, because a disk's speed varies: take the medians.
#
#   load-tests/store.sh                  commits, reads and updates
#   load-tests/store.sh StoreRead -f 1   any benchmark, any of JMH's options
set -euo pipefail
cd "$(dirname "$0")/.."

mvn -q -B -ntp test-compile dependency:build-classpath -Dmdep.outputFile=target/classpath
jmh() { java -cp "target/test-classes:target/classes:$(cat target/classpath)" org.openjdk.jmh.Main "$@"; }

if [ $# -gt 0 ]; then
  jmh "$@"
else
  for _ in 1 2 3; do
    jmh 'Store(Commit|Read|Update)Benchmark' | sed -n '/^Benchmark/,$p'
  done
fi
