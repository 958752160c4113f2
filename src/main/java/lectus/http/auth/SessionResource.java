package lectus.http.auth;

import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import lectus.account.Accounts;
import lectus.account.Accounts.NamedAccount;
import lectus.account.UserDocuments;
import lectus.database.UserContext;
import lectus.document.RequestJson;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.QueryParameters;
import lectus.http.Reply;
import lectus.http.auth.PasswordLogIn.BasicPassword;
import lectus.http.exchange.ClientAddress;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.PublicUrl;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.limits.RequestThreads.Kind;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/**
 * {@code /_session}: logging in for a cookie, logging out, and who is logged in.
 *
 * @param handlers CouchDB's names of the ways to log in, in the order in which they are tried
 */
record SessionResource(
    Accounts accounts, PasswordLogIn passwords, Sessions sessions, List<String> handlers)
    implements Resource {
  /** The longest body, in bytes; a name and a password need less. */
  private static final int MAX_BYTES = 16 << 10;

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(session(exchange));
      case POST -> logIn(exchange);
      case DELETE -> exchange.reply(leadingOn(exchange, "next", loggedOut(exchange)));
      default -> throw Requests.notAllowed("GET,HEAD,POST,DELETE");
    }
  }

  private Reply session(Exchange exchange) {
    UserContext user = exchange.user();
    if (user.name().isEmpty()
        && !user.isServerAdmin()
        && "true".equals(exchange.query().get("basic"))) {
      throw LectusException.unauthorized("Please login.");
    }
    JsonBuffer json = new JsonBuffer(192).ascii("{\"ok\":true,\"userCtx\":{\"name\":");
    user.name().ifPresentOrElse(json::string, () -> json.ascii("null"));
    appendRoles(json, user).ascii("},\"info\":{");
    append(json, handlers, exchange.identity().handler());
    return Reply.json(
        200, json.ascii(",\"authentication_db\":").string(UserDocuments.USERS.text()).ascii("}}"));
  }

  private static JsonBuffer appendRoles(JsonBuffer json, UserContext user) {
    return json.ascii(",\"roles\":").strings(new TreeSet<>(user.roles()));
  }

  private static void append(JsonBuffer json, List<String> handlers, Optional<String> used) {
    json.ascii("\"authentication_handlers\":").strings(handlers);
    used.ifPresent(handler -> json.ascii(",\"authenticated\":").string(handler));
  }

  private void logIn(Exchange exchange) {
    LoginForm form = LoginForm.of(exchange.header(HttpHeaders.CONTENT_TYPE));
    exchange
        .body(MAX_BYTES)
        .compose(body -> loggedIn(exchange, form, body))
        .onComplete(exchange::reply, exchange::fail);
  }

  private Future<Reply> loggedIn(Exchange exchange, LoginForm form, byte[] body) {
    String name = form.name(body);
    BasicPassword given = new BasicPassword(name, form.password(body));
    return passwords
        .verifyForSession(exchange, given)
        .compose(account -> withCookie(exchange, account))
        .map(reply -> leadingOn(exchange, "next", reply))
        .recover(failure -> refused(exchange, failure));
  }

  /**
   * @param account as it was when its password was right
   */
  private Future<Reply> withCookie(Exchange exchange, NamedAccount account) {
    boolean isSecure = ClientAddress.isSecure(exchange);
    String name = account.user().name().orElseThrow();
    return exchange.read(
        Kind.REQUEST,
        () ->
            welcome(
                name,
                account.user(),
                sessions.begin(account, accounts.cookieSecret().read(), isSecure)));
  }

  private static Reply welcome(String name, UserContext user, String cookie) {
    JsonBuffer json = new JsonBuffer(96).ascii("{\"ok\":true,\"name\":").string(name);
    return Reply.json(200, appendRoles(json, user).octet('}')).with(HttpHeaders.SET_COOKIE, cookie);
  }

  /** Takes the cookie away, too; the answer is no challenge to a browser. */
  private Future<Reply> refused(Exchange exchange, Throwable failure) {
    if (failure instanceof LectusException wrong
        && wrong.error() instanceof LectusError.Unauthorized error) {
      Reply reply =
          Reply.error(error)
              .with(HttpHeaders.SET_COOKIE, sessions.end(ClientAddress.isSecure(exchange)));
      return Future.succeededFuture(leadingOn(exchange, "fail", reply));
    }
    return Future.failedFuture(failure);
  }

  private Reply loggedOut(Exchange exchange) {
    return Reply.ok(200)
        .with(HttpHeaders.SET_COOKIE, sessions.end(ClientAddress.isSecure(exchange)));
  }

  /** A browser's form names the page that follows. */
  private static Reply leadingOn(Exchange exchange, String parameter, Reply reply) {
    String next = exchange.query().get(parameter);
    return next == null ? reply : reply.redirecting(PublicUrl.ofPath(exchange, next));
  }

  /** The two forms in which a client sends its name and password. */
  private enum LoginForm {
    JSON {
      @Override
      Optional<String> member(byte[] body, String name) {
        return RequestJson.object(body).get(name).map(LoginForm::text);
      }
    },

    URL_ENCODED {
      @Override
      Optional<String> member(byte[] body, String name) {
        return QueryParameters.parse(new String(body, StandardCharsets.ISO_8859_1)).text(name);
      }
    };

    /** The longest name, in bytes of UTF-8; that of a document's id. */
    private static final int LONGEST_NAME = 512;

    /**
     * @param contentType null if absent
     * @throws LectusException {@code bad_content_type} (415)
     */
    static LoginForm of(String contentType) {
      String type = contentType == null ? "" : contentType.toLowerCase(Locale.ROOT);
      if (type.startsWith("application/x-www-form-urlencoded")) {
        return URL_ENCODED;
      }
      if (type.startsWith("application/json")) {
        return JSON;
      }
      throw new LectusException(
          new LectusError.UnsupportedMediaType(
              "Content-Type must be 'application/x-www-form-urlencoded' or 'application/json'"));
    }

    /**
     * Returns the name that logs in.
     *
     * @throws LectusException {@code bad_request}: no name, two, or one that is too long
     */
    String name(byte[] body) {
      Optional<String> couchdbs = member(body, "name");
      Optional<String> others = member(body, "username");
      if (couchdbs.isPresent() && others.isPresent() && !couchdbs.equals(others)) {
        throw LectusException.badRequest("request body contains different usernames");
      }
      return checked(
          others
              .or(() -> couchdbs)
              .orElseThrow(
                  () -> LectusException.badRequest("request body must contain a username")));
    }

    /** Returns the password; empty if there is none. */
    String password(byte[] body) {
      return member(body, "password").orElse("");
    }

    abstract Optional<String> member(byte[] body, String name);

    private static String checked(String name) {
      if (name.getBytes(StandardCharsets.UTF_8).length > LONGEST_NAME) {
        throw LectusException.badRequest(
            "A username has " + LONGEST_NAME + " bytes of UTF-8 at most.");
      }
      return name;
    }

    private static String text(JsonValue value) {
      if (value instanceof JsonValue.JsonString string) {
        return string.value();
      }
      throw LectusException.badRequest("A username is a string, and so is a password.");
    }
  }
}
