#!/bin/sh
# Starts Lectus: /usr/bin/lectus of the package and of the images.
#
# Options of the JVM are in /opt/lectus/jvm.options; those in JDK_JAVA_OPTIONS count more. Java itself would tell on
# standard error that it found the variable, in a line that is not JSON.
set -f
options=${JDK_JAVA_OPTIONS-}
unset JDK_JAVA_OPTIONS
# With what "lectus archive" has written, servers start in half the time. Java complains of a file that is not there.
archive=/opt/lectus/lectus.aot
if [ -f "$archive" ]; then
  options="-XX:AOTCache=$archive $options"
fi
# What the store and sockets give back goes to other programs sooner: by default glibc keeps large pieces, and an arena
# for each thread. Under load that is 75 MB.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX-4}" MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_-131072}"
if [ "${1-}" = health ]; then
  # It runs beside a server, in what memory that has left.
  options="$options -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
fi
# shellcheck disable=SC2086
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" @/opt/lectus/jvm.options $options -jar /opt/lectus/lectus.jar "$@"
