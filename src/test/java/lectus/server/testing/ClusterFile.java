package lectus.server.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import lectus.http.testing.FreePorts;

/** A Hazelcast configuration for a cluster that meets no other on this machine. */
public final class ClusterFile {
  private static final int MEMBERS = 8;

  private static final String TEXT =
      """
      hazelcast:
        cluster-name: %s
        network:
          port:
            port: %d
            port-count: %d
          interfaces:
            enabled: true
            interfaces:
              - 127.0.0.1
          join:
            auto-detection:
              enabled: false
            tcp-ip:
              enabled: true
              member-list:
                - 127.0.0.1
        properties:
          hazelcast.socket.bind.any: false
          hazelcast.tcp.join.port.try.count: %d
          hazelcast.wait.seconds.before.join: 0
          hazelcast.heartbeat.interval.seconds: 1
          hazelcast.max.no.heartbeat.seconds: 10
      """;

  private ClusterFile() {}

  /**
   * @return the file, in {@code folder}
   */
  public static Path write(Path folder) {
    try {
      return Files.writeString(
          folder.resolve("cluster.yaml"),
          TEXT.formatted(UUID.randomUUID(), FreePorts.row(MEMBERS), MEMBERS, MEMBERS));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
