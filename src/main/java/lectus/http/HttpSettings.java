package lectus.http;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import lectus.account.UserDocuments.PublicFields;
import lectus.database.SecurityObject;
import lectus.metrics.LogFormat;

/**
 * The administrator's settings of HTTP.
 *
 * @param hosts the names by which clients may address the server
 */
public record HttpSettings(
    ConnectionSettings connections,
    ProxySettings proxies,
    RequestSettings requests,
    ServerSettings server,
    HostSettings hosts,
    CompressionSettings compression,
    CorsSettings cors,
    AccessSettings access,
    WebSocketSettings webSockets) {
  /** Of the CouchDB API that the server speaks. Clients read it, and some refuse any other text. */
  public static final String API_VERSION = "3.5.2";

  /**
   * The shortest heartbeat; clients that ask for a shorter one get this one. Each costs a system
   * call.
   */
  public static final long SHORTEST_HEARTBEAT_MILLIS = 1_000;

  /** The longest heartbeat, a day; clients that ask for a longer one, or for none, get this one. */
  public static final long LONGEST_HEARTBEAT_MILLIS = 86_400_000;

  /**
   * Returns how often the client of a WebSocket is pinged: as it asks, but at least as often as the
   * administrator wants, and before the connection is closed as idle.
   */
  public long pingMillis(OptionalLong heartbeatMillis) {
    long most = Math.min(webSockets.pingSeconds() * 1_000L, longestSilenceMillis());
    return Math.min(Math.max(heartbeatMillis.orElse(most), SHORTEST_HEARTBEAT_MILLIS), most);
  }

  /**
   * Returns the longest interval, in milliseconds, between two heartbeats of a live feed. A
   * connection without traffic is closed, so the heartbeat has to come earlier.
   */
  public long longestSilenceMillis() {
    int seconds = connections.idleTimeoutSeconds();
    return seconds == 0 ? LONGEST_HEARTBEAT_MILLIS : seconds * 1_000L / 2;
  }

  /**
   * Connections, and the heads of the requests on them.
   *
   * @param maxUriLength longest request URI, in bytes
   * @param maxHeaderBytes all header fields of a request together, in bytes
   * @param maxStreams requests at a time on one HTTP/2 connection, live feeds included
   * @param idleTimeoutSeconds after how long a connection without traffic is closed; 0: never
   * @param stalledSeconds after how long a client that reads nothing of what waits for it is closed
   *     while others lack the memory that it holds
   * @param headSeconds how long a request's head may take from its first byte to its last; for the
   *     first request of a connection, from the connection's start
   */
  public record ConnectionSettings(
      int maxUriLength,
      int maxHeaderBytes,
      int maxStreams,
      int idleTimeoutSeconds,
      int stalledSeconds,
      int headSeconds) {
    public static final int MAX_HEADER_BYTES = 16_384;

    public static final int HEAD_SECONDS = 30;
  }

  /**
   * Requests, and how they are answered.
   *
   * @param maxRequestBytes longest request body, compressed or not, in bytes
   * @param maxHeldBytes longest one that is held as a whole, in bytes
   * @param decodesPlus whether a plus sign in a path is a space
   * @param slowBodySeconds how long a request's body may take at any rate; after that it has to
   *     arrive at 1 000 bytes a second
   * @param requestSeconds how long a request waits, for a thread and for a store that is silent
   * @param maxUuids how many {@code _uuids} gives at once
   */
  public record RequestSettings(
      long maxRequestBytes,
      int maxHeldBytes,
      boolean decodesPlus,
      int slowBodySeconds,
      int requestSeconds,
      int maxUuids) {
    public static final int SLOW_BODY_SECONDS = 30;
  }

  /**
   * What the server says of itself, and what it serves beside databases.
   *
   * @param version of the server, as {@code GET /} shows it
   * @param header the {@code Server} of all answers
   * @param utils the folder of an administration interface
   * @param hstsSeconds how long browsers shall use nothing but TLS; 0: nothing is said of it
   */
  public record ServerSettings(
      String version, String header, Optional<Path> utils, int hstsSeconds, LogSettings log) {}

  /**
   * The administrator's settings of compressed answers.
   *
   * @param maxStreams how many answers of several parts may be compressed at a time; each takes
   *     some 256 kB beside the heap
   */
  public record CompressionSettings(boolean enabled, int maxStreams) {
    /** Of gzip: the fastest. */
    public static final int LEVEL = 1;

    public static final int MAX_STREAMS = 128;
  }

  /**
   * What is logged of requests.
   *
   * @param access whether each request has a line
   * @param format of that line
   * @param slowMillis from when on a request is slow, which has another line; 0: none
   */
  public record LogSettings(boolean access, LogFormat format, int slowMillis) {}

  /**
   * What one user may use of one server at a time; 0: as much as there is. Whoever is not logged in
   * is known by address.
   *
   * @param subscriptions over all sockets of the user
   */
  public record UserLimits(int requestsPerSecond, int connections, int subscriptions) {
    /** Without limits. */
    public static final UserLimits NONE = new UserLimits(0, 0, 0);
  }

  /**
   * The cookie that a log-in gives.
   *
   * @param seconds how long it is good without being used
   * @param persistent whether it outlives the browser's window
   * @param domain of the hosts to which browsers send it; empty: this host alone
   * @param sameSite whether browsers send it along with requests of other sites' pages; empty: as
   *     the browser thinks best
   */
  public record CookieSettings(
      int seconds, boolean persistent, Optional<String> domain, Optional<String> sameSite) {}

  /**
   * The administrator's settings of WebSockets.
   *
   * @param maxMessageBytes longest message of a client, in bytes
   * @param maxSubscriptions subscriptions of one socket at a time
   * @param pingSeconds how often each client is pinged
   * @param idleTimeoutSeconds after how long a client that sends nothing, not even a pong, and
   *     reads nothing is disconnected
   * @param messageSeconds how long a message may take from its first byte to its last
   */
  public record WebSocketSettings(
      int maxMessageBytes,
      int maxSubscriptions,
      int pingSeconds,
      int idleTimeoutSeconds,
      int messageSeconds) {
    public static final int MESSAGE_SECONDS = 10;
  }

  /**
   * Which JSON web tokens are taken.
   *
   * @param keys the file with the keys; empty: no token is taken
   * @param rolesClaim the claim that lists the user's roles: a name, or names with dots between
   *     them of which each leads deeper
   * @param required claims that a token must have, each with the value that it must have, if any
   */
  public record TokenSettings(
      Optional<Path> keys, String rolesClaim, Map<String, Optional<String>> required) {
    public TokenSettings {
      required = Map.copyOf(required);
    }

    /**
     * Reads a file of keys as it will be read, before a server starts with it.
     *
     * @throws MalformedKeysException what is wrong with it
     */
    public static void checkKeys(Path file) throws IOException, MalformedKeysException {
      TokenKeys.read(file);
    }
  }

  /**
   * The proxies in front of the server, which say in a header who their clients are. What anybody
   * else says of that is ignored.
   *
   * @param trusted where they are
   * @param standard whether they write {@code Forwarded} (RFC 7239) and not {@code X-Forwarded-For}
   *     and its like. Only one of the two is read: a proxy that writes one may pass on what its
   *     client wrote into the other.
   */
  public record ProxySettings(List<AddressRange> trusted, boolean standard) {
    /** There are none. */
    public static final ProxySettings NONE = new ProxySettings(List.of(), false);

    public ProxySettings {
      trusted = List.copyOf(trusted);
    }

    public boolean trusts(InetAddress address) {
      for (AddressRange range : trusted) {
        if (range.contains(address)) {
          return true;
        }
      }
      return false;
    }
  }

  /**
   * Who has to log in, how, and what one user may ask for.
   *
   * @param requiresValidUser whether nobody may do anything without a log-in
   * @param requiresValidUserButForUp the same, except for asking whether the server is up
   * @param challenge how every client without a log-in is told to log in; empty: as in CouchDB
   * @param logInPage the path that browsers are sent to which may not do something; empty: none
   * @param onlyAdminsListDatabases whether {@code _all_dbs} and {@code _dbs_info} are for server
   *     admins; otherwise all users see the databases that they may read
   * @param unset who may use a database whose security was never set
   * @param publicFields of users' documents, which others may read
   * @param proxySecret with which a proxy signs the names of its users; empty: none may name users
   */
  public record AccessSettings(
      boolean requiresValidUser,
      boolean requiresValidUserButForUp,
      Optional<String> challenge,
      Optional<String> logInPage,
      boolean onlyAdminsListDatabases,
      SecurityObject unset,
      PublicFields publicFields,
      CookieSettings cookies,
      Optional<String> proxySecret,
      TokenSettings tokens,
      UserLimits limits) {

    /** Whether a request without a log-in is refused, whatever it asks for. */
    public boolean requiresUser(boolean isAboutUp) {
      return isAboutUp
          ? requiresValidUser && !requiresValidUserButForUp
          : requiresValidUser || requiresValidUserButForUp;
    }
  }

  /**
   * The web pages that may use the server, as in CouchDB's section {@code [cors]}.
   *
   * @param enabled whether pages of other origins may use it at all
   * @param origins such as {@code https://app.example}; {@code *} for all
   * @param credentials whether browsers may send cookies and passwords along
   * @param headers in lower case
   * @param maxAgeSeconds how long a browser may remember a preflight's answer
   */
  public record CorsSettings(
      boolean enabled,
      List<String> origins,
      boolean credentials,
      List<String> methods,
      List<String> headers,
      int maxAgeSeconds) {
    /** As an origin, a method or a header: each of them. */
    public static final String ALL = "*";

    public CorsSettings {
      origins = List.copyOf(origins);
      methods = List.copyOf(methods);
      headers = headers.stream().map(header -> header.toLowerCase(Locale.ROOT)).toList();
    }

    public boolean allows(String origin) {
      return enabled && allows(origins, origin);
    }

    public boolean allowsMethod(String method) {
      return allows(methods, method);
    }

    public boolean allowsHeader(String name) {
      return allows(headers, name.toLowerCase(Locale.ROOT));
    }

    private static boolean allows(List<String> allowed, String one) {
      return allowed.contains(ALL) || allowed.contains(one);
    }
  }

  /**
   * The names by which clients may address this server. A web page can have its own name resolve to
   * a loopback address (DNS rebinding), and browsers then take the server for the page's own
   * origin. Only the {@code Host} header that they send tells who asked.
   *
   * @param any whether every name is allowed
   * @param names in lower case, in addition to the names of loopback, which are always allowed
   */
  public record HostSettings(boolean any, Set<String> names) {
    /** Allows every name: for a server whose names are not all known to it. */
    public static final HostSettings ANY = new HostSettings(true, Set.of());

    /** No name server resolves names that end in {@code .localhost} (RFC 6761, section 6.3). */
    private static final Pattern LOOPBACK =
        Pattern.compile("localhost|.+\\.localhost|127(\\.[0-9]{1,3}){3}|\\[::1]");

    private static final Pattern BRACKETS = Pattern.compile("[\\[\\]]");

    public HostSettings {
      names = Set.copyOf(names);
    }

    /** Allows loopback's own names and the given ones. */
    public static HostSettings named(List<String> names) {
      Set<String> lowerCase = new TreeSet<>();
      names.forEach(name -> lowerCase.add(name.toLowerCase(Locale.ROOT)));
      return new HostSettings(false, lowerCase);
    }

    /**
     * @param name without a port; an address of IPv6 in brackets
     * @param own the address that the client is connected to, which names this server for sure:
     *     only a name can be made to lead elsewhere
     */
    public boolean serve(String name, Supplier<Optional<InetAddress>> own) {
      String lowerCase = name.toLowerCase(Locale.ROOT);
      return any
          || names.contains(lowerCase)
          || LOOPBACK.matcher(lowerCase).matches()
          || isAddress(name, own.get());
    }

    private static boolean isAddress(String name, Optional<InetAddress> address) {
      return address.isPresent()
          && address.equals(IpLiteral.parse(BRACKETS.matcher(name).replaceAll("")));
    }
  }

  /** A file of keys cannot be understood. The message says why, and names no key. */
  public static final class MalformedKeysException extends Exception {
    private static final long serialVersionUID = 1L;

    MalformedKeysException(String why) {
      super(why);
    }

    MalformedKeysException(String why, Throwable cause) {
      super(why, cause);
    }
  }
}
