package lectus.config;

import java.util.List;

/** What listens, and who may ask. */
public final class ListenKeys {
  static final KeySection SECTION = new KeySection("Where it listens");

  public static final ConfigurationKey<String> HOST =
      SECTION.key(
          "host",
          ValueType.TEXT,
          "127.0.0.1",
          """
          An address of this machine. Any address other than a loopback address also
          needs an admin (lectus admin NAME), or allow-anonymous.
          """);

  public static final ConfigurationKey<Integer> PORT =
      SECTION.number(
          "port",
          5984,
          0,
          65_535,
          "The port; 0 takes any free one. The first line on standard output says which.");

  public static final ConfigurationKey<Boolean> ALLOW_ANONYMOUS =
      SECTION.flag(
          "allow-anonymous",
          false,
          """
          As long as there is no admin, whoever reaches the port may do everything.
          Listening elsewhere than on loopback takes this word that it is wanted.
          """);

  public static final ConfigurationKey<List<String>> HOSTS =
      SECTION.key(
          "http.hosts",
          ValueType.HOSTS,
          "",
          """
          The names by which clients may ask for the server (their Host header). On a
          loopback address these are localhost, names that end in .localhost,
          127.0.0.0/8, [::1], and the names given here. Otherwise a web page that lets
          its own name point at this machine could use the server (DNS rebinding). A
          proxy that passes on its clients' Host needs its name here. On other addresses
          every name is allowed, unless names are given here. The address that a client
          is connected to is allowed in any case. A request for any other name is
          answered 400.
          """);

  public static final ConfigurationKey<String> ADDRESS_FILE =
      SECTION.key(
          "address-file",
          ValueType.TEXT,
          "",
          """
          A file in which a server leaves its address while it serves. "lectus health"
          asks the server there whether it is up. Empty: none.
          """);

  private ListenKeys() {}
}
