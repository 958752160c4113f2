package lectus.server;

import java.time.Duration;
import java.util.Optional;
import lectus.document.edit.DocumentLimits;
import lectus.http.HttpSettings;

/**
 * What an administrator decides about one server.
 *
 * @param port 0: any free one
 * @param ignoresValidation whether documents are written although nothing runs the {@code
 *     validate_doc_update} that should judge them
 * @param maxConnections of clients at a time
 * @param readers threads that read the store
 * @param memory how the heap is divided
 * @param polls how often it looks for what nobody tells it
 * @param cluster empty: a server that has no others beside it
 * @param stopGrace how long an orderly stop waits for running requests
 */
public record NodeSettings(
    String host,
    int port,
    HttpSettings http,
    DocumentLimits documents,
    WriteSettings writes,
    boolean ignoresValidation,
    int maxConnections,
    int readers,
    MemoryPlan memory,
    PollSettings polls,
    Optional<ClusterSettings> cluster,
    Duration stopGrace) {

  /** As host:port, where an address of IPv6 stands in brackets. */
  public String address(int port) {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}
