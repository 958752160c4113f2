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
          """
          Whether the certificates of other servers have to be valid for their names.
          """);

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
          How many connections there may be at a time to one other server.
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

  private ReplicatorKeys() {}
}
