package lectus.config;

import java.util.List;
import lectus.http.client.AllowedHosts;

/** Replications to and from other servers. */
public final class ReplicatorKeys {
  static final KeySection SECTION = new KeySection("Replication");

  public static final ConfigurationKey<List<String>> ALLOW =
      SECTION.key(
          "replicator.allow",
          ValueType.WORDS,
          "",
          """
          The servers that replications may ask: host names, with * for anything, and
          addresses or networks. Empty: all that are not denied.
          """);

  public static final ConfigurationKey<List<String>> DENY =
      SECTION.key(
          "replicator.deny",
          ValueType.WORDS,
          String.join(", ", AllowedHosts.DENIED_BY_DEFAULT),
          """
          The servers that no replication asks, in the same form. A name is denied if one
          of its addresses is. Whoever may log in can make this server send requests, so
          deny what only this server should reach.
          """);

  public static final ConfigurationKey<Boolean> VERIFY =
      SECTION.flag(
          "replicator.verify-certificates",
          true,
          "Whether the certificates of other servers have to be valid for their names.");

  public static final ConfigurationKey<String> CERTIFICATES =
      SECTION.key(
          "replicator.certificates",
          ValueType.TEXT,
          "",
          """
          A file in PEM form with the certificates of issuers to trust, in place of those
          that Java trusts.
          """);

  static final ConfigurationKey<Integer> CONNECTIONS =
      SECTION.number(
          "replicator.connections",
          100,
          2,
          10_000,
          """
          How many connections there may be at a time to one other server, beside those
          that wait for changes.
          """);

  public static final ConfigurationKey<String> UUID =
      SECTION.key(
          "replicator.uuid",
          ValueType.TEXT,
          "",
          """
          The uuid of the CouchDB whose replications go on here from their checkpoints.
          Empty: the store's own.
          """);

  public static final ConfigurationKey<Integer> MAX_JOBS =
      SECTION.number(
          "replicator.max-jobs",
          500,
          0,
          100_000,
          """
          How many replications of documents this server runs at a time. Those that wait
          for changes of a database of this store do not count.
          """);

  public static final ConfigurationKey<Integer> INTERVAL_MILLIS =
      SECTION.number(
          "replicator.interval-millis",
          60_000,
          100,
          86_400_000,
          "After which time some that run make room, if others wait.");

  static final ConfigurationKey<Integer> MAX_CHURN =
      SECTION.number("replicator.max-churn", 20, 0, 100_000, "How many of them.");

  static final ConfigurationKey<Integer> MAX_HISTORY =
      SECTION.number(
          "replicator.max-history",
          20,
          1,
          1_000,
          "How many events of a replication /_scheduler/jobs shows.");

  static final ConfigurationKey<Integer> HEALTH_SECONDS =
      SECTION.number(
          "replicator.health-threshold-seconds",
          120,
          1,
          86_400,
          "A replication that has run for so long begins to count its failures anew.");

  static final ConfigurationKey<Boolean> UPDATE_DOCUMENTS =
      SECTION.flag(
          "replicator.update-documents",
          false,
          """
          Whether a document is told that its replication has begun, or has failed and is
          tried again. It is told of the end in any case.
          """);

  public static final ConfigurationKey<Integer> RELOCATION_BYTES =
      SECTION.number(
          "relocation.max-bytes-per-second",
          0,
          0,
          Integer.MAX_VALUE,
          """
          How many bytes of a database that is moved elsewhere are sent in a second; less
          than 10 000 counts as that. 0: as many as the other place takes.
          """);

  private ReplicatorKeys() {}
}
