package lectus.http.exchange;

import io.vertx.core.http.Cookie;
import io.vertx.core.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import lectus.attachment.Digests;
import lectus.database.UserContext;
import lectus.error.LectusException;
import lectus.http.MediaType;
import lectus.http.Method;
import lectus.http.QueryParameters;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/**
 * A request as functions of design documents see it: CouchDB's {@code req}. Whoever may write
 * design documents must not come into the accounts of others by it, so it lacks {@code
 * Authorization} and the cookie of the session.
 *
 * @param path the decoded names of the request's path
 * @param target as it was sent
 * @param id of the document that an update is about
 */
public record RequestObject(
    String method,
    List<String> path,
    String target,
    Map<String, JsonValue> query,
    Map<String, String> headers,
    String body,
    Map<String, String> form,
    String peer,
    Map<String, String> cookies,
    UserContext user,
    Optional<String> id) {
  /** What CouchDB shows of a request without a body. */
  private static final String NO_BODY = "undefined";

  private static final String FORM = "application/x-www-form-urlencoded";

  private static final Set<String> SECRET_HEADERS =
      Set.of("authorization", "proxy-authorization", "cookie", "x-auth-couchdb-token");

  private static final String SESSION = "AuthSession";

  /** Parameters that are JSON, as in CouchDB. */
  private static final Set<String> JSON_PARAMETERS =
      Set.of("startkey", "endkey", "key", "descending");

  /** How a feed is read, not what it shows. */
  private static final Set<String> OF_THE_READER =
      Set.of("since", "last-event-id", "feed", "heartbeat", "timeout", "limit");

  /** Of objects and references, in bytes for each text. */
  private static final int TEXT_BYTES = 100;

  /**
   * @param body null if the request has none
   */
  public static RequestObject of(Exchange exchange, byte[] body) {
    Map<String, String> headers = new LinkedHashMap<>();
    exchange
        .request()
        .headers()
        .forEach(
            it -> {
              if (!SECRET_HEADERS.contains(it.getKey().toLowerCase(Locale.ROOT))) {
                headers.merge(inTitleCase(it.getKey()), it.getValue(), (a, b) -> a + ", " + b);
              }
            });
    Map<String, String> cookies = cookies(exchange);
    if (!cookies.isEmpty()) {
      StringBuilder all = new StringBuilder();
      cookies.forEach((name, value) -> all.append("; ").append(name).append('=').append(value));
      headers.put("Cookie", all.substring(2));
    }
    String text = body == null ? NO_BODY : new String(body, StandardCharsets.UTF_8);
    return new RequestObject(
        exchange.request().method().name(),
        exchange.target().segments(),
        exchange.uri(),
        query(exchange.query()),
        headers,
        text,
        body == null ? Map.of() : form(exchange, text),
        ClientAddress.of(exchange).toString(),
        cookies,
        exchange.user(),
        Optional.empty());
  }

  /** The same, as a subscription of a socket has it: there is no request but the query. */
  public static RequestObject of(
      List<String> path, Map<String, JsonValue> query, UserContext user) {
    return new RequestObject(
        Method.GET.name(),
        path,
        "/" + String.join("/", path),
        query,
        Map.of(),
        NO_BODY,
        Map.of(),
        "",
        Map.of(),
        user,
        Optional.empty());
  }

  /** Returns the request for an update of a document. */
  public RequestObject about(Optional<String> document) {
    return new RequestObject(
        method, path, target, query, headers, body, form, peer, cookies, user, document);
  }

  /** Returns about how many bytes of memory it takes. */
  public long memory() {
    long texts = 2L * (target.length() + body.length() + form.size());
    for (Map<String, String> some : List.of(headers, form, cookies)) {
      for (Map.Entry<String, String> it : some.entrySet()) {
        texts += TEXT_BYTES + 2L * (it.getKey().length() + it.getValue().length());
      }
    }
    return texts + TEXT_BYTES;
  }

  /** HTTP/2 has names in lower case, and functions ask for {@code User-Agent}. */
  private static String inTitleCase(String name) {
    StringBuilder title = new StringBuilder(name.length());
    boolean begins = true;
    for (char c : name.toCharArray()) {
      title.append(begins ? Character.toUpperCase(c) : Character.toLowerCase(c));
      begins = c == '-';
    }
    return title.toString();
  }

  private static Map<String, String> cookies(Exchange exchange) {
    Map<String, String> cookies = new LinkedHashMap<>();
    for (Cookie cookie : exchange.request().cookies()) {
      if (!cookie.getName().equals(SESSION)) {
        cookies.put(cookie.getName(), cookie.getValue());
      }
    }
    return cookies;
  }

  private static Map<String, JsonValue> query(QueryParameters given) {
    Map<String, JsonValue> query = new LinkedHashMap<>();
    given.asMap().forEach((name, value) -> query.put(name, parameter(name, value)));
    return query;
  }

  private static JsonValue parameter(String name, String value) {
    if (JSON_PARAMETERS.contains(name)) {
      try {
        return JsonValue.parse(value.getBytes(StandardCharsets.UTF_8));
      } catch (LectusException noJson) {
        return new JsonValue.JsonString(value);
      }
    }
    return new JsonValue.JsonString(value);
  }

  private static Map<String, String> form(Exchange exchange, String body) {
    boolean isForm =
        (exchange.method() == Method.POST || exchange.method() == Method.PUT)
            && MediaType.isNamed(FORM, exchange.header(HttpHeaders.CONTENT_TYPE));
    return isForm ? QueryParameters.parse(body).asMap() : Map.of();
  }

  /**
   * Returns it as JSON.
   *
   * @param uuid a new one
   * @param info of the database, as JSON
   * @param security the security object of the database, as JSON
   */
  byte[] json(String uuid, byte[] info, byte[] security) {
    JsonBuffer out = new JsonBuffer(1_024 + body.length());
    out.ascii("{\"info\":").raw(info).ascii(",\"uuid\":").string(uuid).ascii(",\"id\":");
    id.ifPresentOrElse(out::string, out::nil);
    appendShared(query.keySet(), security, out.octet(','));
    out.ascii(",\"raw_path\":").string(target);
    append("headers", headers, out);
    append("cookie", cookies, out);
    out.ascii(",\"peer\":").string(peer);
    return out.octet('}').toBytes();
  }

  private void appendShared(Set<String> parameters, byte[] security, JsonBuffer out) {
    out.ascii("\"method\":").string(method);
    out.ascii(",\"requested_path\":").strings(path).ascii(",\"path\":").strings(path);
    out.ascii(",\"query\":{")
        .each(parameters, name -> query.get(name).writeTo(out.string(name).octet(':')))
        .ascii("},\"body\":")
        .string(body);
    append("form", form, out);
    out.ascii(",\"userCtx\":{\"db\":").string(path.get(0)).ascii(",\"name\":");
    user.name().ifPresentOrElse(out::string, out::nil);
    out.ascii(",\"roles\":").strings(new TreeSet<>(user.roles()));
    out.ascii("},\"secObj\":").raw(security);
  }

  private static void append(String name, Map<String, String> members, JsonBuffer out) {
    out.ascii(",\"").ascii(name).ascii("\":").object(members, out::string);
  }

  /** Returns what requests have to have alike for one to do for the other, as a digest. */
  String shared(byte[] security) {
    Set<String> parameters = new TreeSet<>(query.keySet());
    parameters.removeIf(name -> OF_THE_READER.contains(name.toLowerCase(Locale.ROOT)));
    JsonBuffer text = new JsonBuffer(512);
    appendShared(parameters, security, text);
    return digest(text.toBytes());
  }

  static String digest(byte[] text) {
    return HexFormat.of().formatHex(Digests.sha256().digest(text));
  }
}
