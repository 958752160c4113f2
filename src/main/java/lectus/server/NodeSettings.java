package lectus.server;

import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import lectus.account.AccountSettings;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.http.AddressRange;
import lectus.http.HttpSettings;
import lectus.http.IpLiteral;
import lectus.http.ServedSettings.SettingsPlan;
import lectus.http.exchange.Tracing.TracingSettings;
import lectus.replication.Replicator.ReplicatorSettings;
import lectus.script.Scripts.ScriptSettings;
import lectus.server.WriteQueue.WriteSettings;
import lectus.server.connection.KeySource.TlsSettings;
import lectus.view.ViewFollower.Followed;

/**
 * The administrator's settings of one server.
 *
 * @param port 0: any free one
 * @param databases what becomes of them
 * @param ignoresValidation whether documents are written without asking the {@code
 *     validate_doc_update} of design documents
 * @param maxConnections of clients at a time
 * @param readers threads that read the store
 * @param jobTasks of indexes that are built at the same time
 * @param memory how the heap is divided
 * @param scripts where functions of design documents run
 * @param replicator which other servers replications may ask, and their defaults
 * @param followed views that are brought up to date in the background
 * @param polls how often it looks for changes that no event announced
 * @param cluster empty: the server stands alone
 * @param wire what comes before the first request of a connection
 * @param metrics empty: only admins read the figures
 * @param tracing empty: no request is traced
 * @param stopGrace how long an orderly stop waits for running requests
 * @param plan what the store's settings make of these
 */
public record NodeSettings(
    String host,
    int port,
    HttpSettings http,
    DocumentLimits documents,
    WriteSettings writes,
    boolean ignoresValidation,
    AccountSettings accounts,
    int maxConnections,
    int readers,
    int jobTasks,
    MemoryPlan memory,
    ScriptSettings scripts,
    ReplicatorSettings replicator,
    Followed followed,
    PollSettings polls,
    Optional<ClusterSettings> cluster,
    WireSettings wire,
    Optional<ListenPort> metrics,
    Optional<TracingSettings> tracing,
    Duration stopGrace,
    SettingsPlan plan) {

  ListenPort listen() {
    return new ListenPort("host", host, port);
  }

  public NodeSettings at(int newPort) {
    return new NodeSettings(
        host,
        newPort,
        http,
        documents,
        writes,
        ignoresValidation,
        accounts,
        maxConnections,
        readers,
        jobTasks,
        memory,
        scripts,
        replicator,
        followed,
        polls,
        cluster,
        wire,
        metrics,
        tracing,
        stopGrace,
        plan);
  }

  /** Returns the URL of a server on this port, without a slash at the end. */
  public String url(int port) {
    return (wire.tls().isPresent() ? "https" : "http") + "://" + address(port);
  }

  /**
   * Returns where a client of this machine asks whether the server on this port is up: its URL, and
   * after it how the connection is announced, if it has to be.
   */
  public String health(int port) {
    String near = host.equals("0.0.0.0") ? "127.0.0.1" : host.equals("::") ? "::1" : host;
    String url =
        (wire.tls().isPresent() ? "https" : "http")
            + "://"
            + new ListenPort("host", near, port).address();
    return IpLiteral.parse(near).filter(this::isAnnounced).isPresent() ? url + " PROXY" : url;
  }

  private boolean isAnnounced(InetAddress client) {
    return wire.announcing().stream().anyMatch(range -> range.contains(client));
  }

  public String address(int port) {
    return new ListenPort("host", host, port).address();
  }

  /**
   * What comes before the first request of a connection.
   *
   * @param tls empty: connections are not encrypted
   * @param announcing where proxies are that announce each connection's client (PROXY protocol)
   */
  public record WireSettings(Optional<TlsSettings> tls, List<AddressRange> announcing) {
    public WireSettings {
      announcing = List.copyOf(announcing);
    }
  }

  /**
   * How a server joins its cluster.
   *
   * @param file Hazelcast's configuration, in XML or YAML; empty: members on this machine
   * @param eventPort port for events from other members; 0: any free one
   */
  public record ClusterSettings(Optional<Path> file, int eventPort) {}
}
