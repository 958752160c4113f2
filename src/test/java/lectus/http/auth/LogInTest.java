package lectus.http.auth;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import lectus.account.Accounts.NamedAccount;
import lectus.config.AccessKeys;
import lectus.config.ProxyKeys;
import lectus.database.UserContext;
import lectus.http.HttpSettings.CookieSettings;
import lectus.http.auth.Sessions.AccountView;
import lectus.http.exchange.Exchange.Identity;
import lectus.http.testing.Answer;
import lectus.http.testing.Bearer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The ways to say who one is, and when sessions are over. */
final class LogInTest {
  /** The ways to say who one is, on a server with an admin and a user. */
  @Nested
  class Ways {
    private static final String FORM = "application/x-www-form-urlencoded";
    private static final String PROXY_SECRET = "between us";

    private static final String WRONG =
        "{\"error\":\"unauthorized\",\"reason\":\"Name or password is incorrect.\"}\n";

    @RegisterExtension static final TestStores stores = new TestStores();

    @TempDir Path folder;
    @AutoClose private LectusServer server;

    @BeforeEach
    void start() throws Exception {
      Path keys = Files.writeString(folder.resolve("keys"), Bearer.KEYS);
      server =
          withUsers(
              new TestSettings()
                  .with(AccessKeys.JWT_KEYS, keys)
                  .with(ProxyKeys.TRUSTED_PROXIES, "127.0.0.1")
                  .with(AccessKeys.PROXY_AUTH, true)
                  .with(AccessKeys.PROXY_SECRET, PROXY_SECRET));
    }

    /** root is an admin, jan a user with two roles. */
    private static LectusServer withUsers(TestSettings settings) {
      LectusServer server = LectusServer.start(stores.fresh(), settings);
      server.put("/_users");
      server
          .put(
              "/_users/org.couchdb.user:jan",
              json("{'name':'jan','password':'apple','type':'user','roles':['b','a']}"))
          .expect(201);
      server.put("/_node/_local/_config/admins/root", "\"s:cret\"").expect("\"\"\n");
      return server;
    }

    private static String basic(String pair) {
      return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
    }

    private Answer session(String header, String value) {
      return server.request("GET", "/_session", header, value).send();
    }

    private static String is(String name, String roles, String handler) {
      return json("{'ok':true,'userCtx':{'name':%s,'roles':[%s]},'info':{'authentication_handlers':['proxy','jwt','cookie','default']%s,'authentication_db':'_users'}}\n")
          .formatted(
              name, roles, (handler.isEmpty() ? "" : ",\"authenticated\":\"" + handler + '"'));
    }

    private Answer logIn(String target, String name, String password) {
      return server
          .request("POST", target, "Content-Type", FORM)
          .body(("name=" + name + "&password=" + password).getBytes(StandardCharsets.UTF_8))
          .send();
    }

    /** Returns name and value. */
    private static String cookie(Answer answer) {
      String header = answer.header("set-cookie");
      return header.substring(0, header.indexOf(';'));
    }

    @Test
    void who_brings_nothing_is_nobody() {
      server.get("/_session").expect(is("null", "", ""));
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '~',
        textBlock =
            """
            jan:apple   | "jan"  | "a","b"
            root:s:cret | "root" | "_admin"
            """)
    void a_name_and_a_password(String pair, String name, String roles) {
      for (int time = 0; time < 3; time++) { // verified, and known from then on
        assertThat(session("Authorization", basic(pair)).body())
            .isEqualTo(is(name, roles, "default"));
      }
      assertThat(session("Authorization", basic(pair).replace("Basic", "basic")).body())
          .isEqualTo(is(name, roles, "default"));
    }

    @Test
    void a_wrong_one_is_401_whatever_is_asked_for() {
      for (String path : List.of("/", "/_up", "/_session", "/absent")) {
        wrong(path, "jan:Apple");
      }
      for (String pair : List.of("root:apple", "root:", "eve:apple", ":apple", ":")) {
        wrong("/_all_dbs", pair);
      }
    }

    private void wrong(String path, String pair) {
      Answer answer = server.request("GET", path, "Authorization", basic(pair)).send();
      assertThat(answer.status()).as(path).isEqualTo(401);
      assertThat(answer.body()).isEqualTo(WRONG);
      assertThat(answer.headers()).doesNotContainKeys("www-authenticate", "set-cookie");
    }

    @Test
    void five_wrong_ones_lock_the_name_and_not_the_door() {
      for (int i = 0; i < 5; i++) {
        wrong("/", "jan:Apple");
      }
      Answer locked = session("Authorization", basic("jan:apple")).expect(403);
      assertThat(locked.member("reason"))
          .isEqualTo("Account is temporarily locked due to multiple authentication failures");
      logIn("/_session", "jan", "apple").expect(403);
      server.get("/_up").expect(200);
      session("Authorization", basic("root:s:cret")).expect(200);
    }

    @Test
    void wrong_ones_for_many_names_slow_down_those_who_were_not_here_before() {
      session("Authorization", basic("root:s:cret")).expect(200);
      for (int i = 0; i < 20; i++) {
        wrong("/", "name" + i + ":apple");
      }
      Answer slowed = session("Authorization", basic("jan:apple")).expect(429);
      assertThat(Integer.parseInt(slowed.header("retry-after"))).isBetween(1, 2);
      assertThat(slowed.member("error")).isEqualTo("too_many_requests");
      session("Authorization", basic("root:s:cret")).expect(200);
      server.get("/_up").expect(200);
    }

    @Test
    void a_name_that_is_no_text_is_nobodys() {
      assertThat(session("Authorization", "Basic /zph").body()).isEqualTo(WRONG);
    }

    @Test
    void some_pairs_stand_for_nobody() {
      for (String pair : List.of("_:_", "jan")) {
        assertThat(session("Authorization", basic(pair)).body()).isEqualTo(is("null", "", ""));
      }
    }

    @Test
    void other_ways_count_as_none() {
      for (String header : List.of("Digest x", "Nonsense", "", "Basicx")) {
        assertThat(session("Authorization", header).body()).isEqualTo(is("null", "", ""));
      }
    }

    @Test
    void what_is_no_base64_is_400() {
      for (String header : List.of("Basic !", "Basic x", "Basic XX=")) {
        Answer answer = session("Authorization", header).expect(400);
        assertThat(answer.member("reason"))
            .isEqualTo("Authorization header has invalid base64 value");
      }
    }

    @Test
    void a_client_can_wish_to_be_asked_for_a_password() {
      Answer answer =
          server
              .request("GET", "/_all_dbs", "X-CouchDB-WWW-Authenticate", "Basic realm=\"here\"")
              .send()
              .expect(401);
      assertThat(answer.header("www-authenticate")).isEqualTo("Basic realm=\"here\"");
    }

    @Test
    void a_cookie_is_given_for_a_password_and_taken_instead_of_it() {
      Answer answer = logIn("/_session", "jan", "apple").expect(200);
      assertThat(answer.body())
          .isEqualTo("{\"ok\":true,\"name\":\"jan\",\"roles\":[\"a\",\"b\"]}\n");
      assertThat(answer.header("set-cookie"))
          .matches(
              "AuthSession=[A-Za-z0-9_-]+; Version=1;"
                  + " Expires=[A-Z][a-z]{2}, \\d\\d-[A-Z][a-z]{2}-\\d{4} \\d\\d:\\d\\d:\\d\\d GMT;"
                  + " Max-Age=600; Path=/; HttpOnly; SameSite=Lax");
      Answer session =
          session("Cookie", "a=b; " + cookie(answer) + "; c=d")
              .expect(is("\"jan\"", "\"a\",\"b\"", "cookie"));
      assertThat(session.headers()).doesNotContainKey("set-cookie");
    }

    @Test
    void json_will_do_as_well_as_a_form() {
      Answer answer = server.post("/_session", "{\"name\":\"root\",\"password\":\"s:cret\"}");

      assertThat(answer.body())
          .isEqualTo("{\"ok\":true,\"name\":\"root\",\"roles\":[\"_admin\"]}\n");
      assertThat(session("Cookie", cookie(answer)).body())
          .isEqualTo(is("\"root\"", "\"_admin\"", "cookie"));
      server.post("/_session", "{\"name\":\"root\",\"password\":5}").expect(400);
    }

    @Test
    void over_tls_the_cookie_is_never_sent_without() {
      Answer answer =
          server
              .request("POST", "/_session", "X-Forwarded-Proto", "https")
              .json(json("{'name':'jan','password':'apple'}"))
              .send();

      assertThat(answer.header("set-cookie")).contains("; Secure;");
    }

    @Test
    void a_wrong_password_gives_no_cookie_and_takes_the_old_one_away() {
      Answer answer = logIn("/_session", "jan", "x").expect(401);
      assertThat(answer.body()).isEqualTo(WRONG);
      assertThat(answer.header("set-cookie"))
          .startsWith("AuthSession=; Version=1; Expires=Thu, 01-Jan-1970 00:00:00 GMT; Max-Age=0;");
      assertThat(answer.headers()).doesNotContainKey("www-authenticate");
    }

    @Test
    void forms_lead_on() {
      Answer in = logIn("/_session?next=/in&fail=/out", "jan", "apple").expect(302);
      assertThat(in.header("location")).isEqualTo("http://host/in");
      Answer out = logIn("/_session?next=/in&fail=/out", "jan", "x").expect(302);
      assertThat(out.header("location")).isEqualTo("http://host/out");
      logIn("/_session?next=elsewhere", "jan", "apple").expect(400);
    }

    @Test
    void a_session_can_be_asked_for_only_if_there_is_one() {
      Answer answer = server.get("/_session?basic=true").expect(401);
      assertThat(answer.member("reason")).isEqualTo("Please login.");
    }

    @Test
    void a_cookie_that_was_changed_counts_as_none() {
      String cookie = cookie(logIn("/_session", "jan", "apple"));
      String value = cookie.substring("AuthSession=".length());
      byte[] bytes = Base64.getUrlDecoder().decode(value);
      for (int i = 0; i < bytes.length; i++) {
        byte[] changed = bytes.clone();
        changed[i] ^= 1;
        Answer answer =
            session(
                "Cookie",
                "AuthSession=" + Base64.getUrlEncoder().withoutPadding().encodeToString(changed));
        assertThat(answer.body()).as("byte " + i).doesNotContain("\"authenticated\"");
        assertThat(answer.status()).isIn(200, 400); // without its colons it is no cookie at all
      }
    }

    @Test
    void what_is_no_cookie_of_ours_is_400() {
      for (String value : List.of("x", "!!!", "amFu", "amFuOjo.", "amFuOmI")) {
        Answer answer = session("Cookie", "AuthSession=" + value).expect(400);
        assertThat(answer.member("reason"))
            .isEqualTo("Malformed AuthSession cookie. Please clear your cookies.");
      }
    }

    @Test
    void a_cookie_of_nobody_counts_as_none() {
      for (String value : List.of("", "amFuOjo", "Ojo6Og", "amFuOjU6")) {
        assertThat(session("Cookie", "AuthSession=" + value).body()).isEqualTo(is("null", "", ""));
      }
    }

    /** Nobody waits until what was remembered of the account is too old to be used. */
    @Test
    void whoever_logs_in_after_his_document_was_written_is_who_he_is_by_then() {
      String jan = "/_users/org.couchdb.user:jan";
      String root = basic("root:s:cret");
      String document =
          "{\"name\":\"jan\",\"password\":\"apple\",\"type\":\"user\",\"roles\":[\"%s\"],\"_rev\":\"%s\"}";
      for (String role : List.of("c", "d", "e")) {
        logIn("/_session", "jan", "apple").expect(200);
        String rev = server.request("GET", jan, "Authorization", root).send().member("_rev");
        Request write = server.request("PUT", jan, "Authorization", root);
        write.json(document.formatted(role, rev)).send().expect(201);

        assertThat(session("Authorization", basic("jan:apple")).body())
            .isEqualTo(is("\"jan\"", '"' + role + '"', "default"));
        assertThat(session("Cookie", cookie(logIn("/_session", "jan", "apple"))).body())
            .isEqualTo(is("\"jan\"", '"' + role + '"', "cookie"));
      }
    }

    @Test
    void a_session_ends_with_its_password() {
      String cookie = cookie(logIn("/_session", "root", "s:cret"));
      Request change =
          server
              .request("PUT", "/_node/_local/_config/admins/root", "Cookie", cookie)
              .json("\"other\"");
      change.send().expect(200);

      assertThat(session("Cookie", cookie).body()).isEqualTo(is("null", "", ""));
      session("Authorization", basic("root:s:cret")).expect(401);
      session("Authorization", basic("root:other")).expect(200);
    }

    @Test
    void a_token() {
      assertThat(session("Authorization", Bearer.of("ann", "x,y")).body())
          .isEqualTo(is("\"ann\"", "\"x\",\"y\"", "jwt"));
      assertThat(session("Authorization", Bearer.of("ann", "x,y") + "x").body())
          .isEqualTo(
              json("{'error':'unauthorized','reason':'Bad HMAC in authentication token'}\n"));
      session("Authorization", "Bearer x").expect(400);
    }

    private static String token(String algorithm, String name) throws GeneralSecurityException {
      Mac mac = Mac.getInstance(algorithm);
      mac.init(new SecretKeySpec(PROXY_SECRET.getBytes(StandardCharsets.UTF_8), algorithm));
      return HexFormat.of().formatHex(mac.doFinal(name.getBytes(StandardCharsets.UTF_8)));
    }

    /** Clients send UTF-8, as CouchDB reads it; what cannot be that is Latin-1. */
    @Test
    void a_proxy_signs_the_octets_of_a_name_that_is_not_ascii() throws Exception {
      String utf8 = octets("j\u00fcrgen \u6f22");
      String is = is("\"j\u00fcrgen \u6f22\"", "\"b\u00fcro\"", "proxy");

      assertThat(
              proxied(utf8, octets("b\u00fcro"), token("HmacSHA256", "j\u00fcrgen \u6f22")).body())
          .isEqualTo(is);
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(PROXY_SECRET.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      byte[] latin1 = "j\u00fcrgen".getBytes(StandardCharsets.ISO_8859_1);
      assertThat(
              proxied("j\u00fcrgen", "b\u00fcro", HexFormat.of().formatHex(mac.doFinal(latin1)))
                  .body())
          .isEqualTo(is("\"j\u00fcrgen\"", "\"b\u00fcro\"", "proxy"));
      assertThat(proxied("j\u00fcrgen", "", token("HmacSHA256", "j\u00fcrgen")).body())
          .isEqualTo(is("null", "", ""));
    }

    /** Requests are written in Latin-1. */
    private static String octets(String text) {
      return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    private Answer proxied(String name, String roles, String token) {
      return server
          .request(
              "GET",
              "/_session",
              "X-Auth-CouchDB-UserName",
              name,
              "X-Auth-CouchDB-Roles",
              roles,
              "X-Auth-CouchDB-Token",
              token)
          .send();
    }

    @Test
    void the_word_of_a_proxy() throws Exception {
      String sha256 = token("HmacSHA256", "ann");

      assertThat(proxied("ann", "x, y", sha256).body())
          .isEqualTo(is("\"ann\"", "\"x\",\"y\"", "proxy"));
      assertThat(proxied("ann", "", token("HmacSHA1", "ann")).body())
          .isEqualTo(is("\"ann\"", "", "proxy"));
      for (String wrong : List.of(token("HmacSHA256", "bob"), "", "x", sha256 + "00", "zz")) {
        assertThat(proxied("ann", "x", wrong).body()).isEqualTo(is("null", "", ""));
      }
    }

    @Test
    void a_body_waits_until_it_is_known_who_sends_it() {
      server.request("PUT", "/w", "Authorization", basic("root:s:cret")).send();
      String body = "{\"text\":\"" + "x".repeat(100_000) + "\"}";

      try (Connection connection = server.connect()) {
        for (int i = 0; i < 3; i++) { // an account is asked for once, and known from then on
          Request request =
              server.request("PUT", "/w/doc" + i, "Authorization", basic("root:s:cret")).json(body);
          connection.write(request.bytes());
          connection.read(false).expect(201);
        }
        Request refused =
            server.request("PUT", "/w/doc", "Authorization", basic("root:x")).json(body);
        connection.write(refused.bytes());
        connection.read(false).expect(401);
      }
    }

    @Test
    void so_it_does_over_http_2() throws Exception {
      HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
      String body = "{\"text\":\"" + "x".repeat(100_000) + "\"}";
      String root = basic("root:s:cret");
      client.send(to("/").build(), HttpResponse.BodyHandlers.ofString());

      HttpRequest create = to("/w").header("Authorization", root).PUT(text("")).build();
      assertThat(client.send(create, HttpResponse.BodyHandlers.ofString()).statusCode())
          .isEqualTo(201);
      for (String pair : List.of("root:s:cret", "root:x", "jan:apple")) {
        HttpRequest put = to("/w/doc").header("Authorization", basic(pair)).PUT(text(body)).build();
        HttpResponse<String> answer = client.send(put, HttpResponse.BodyHandlers.ofString());
        assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_2);
        assertThat(answer.statusCode())
            .isEqualTo(pair.equals("root:s:cret") ? 201 : pair.equals("root:x") ? 401 : 403);
      }
    }

    private HttpRequest.Builder to(String path) {
      return HttpRequest.newBuilder(URI.create(server.url() + path));
    }

    private static HttpRequest.BodyPublisher text(String text) {
      return HttpRequest.BodyPublishers.ofString(text);
    }

    @Test
    void a_socket_waits_as_well() {
      String fresh = basic("jan:apple");

      try (SocketClient socket =
          SocketClient.connectAs(fresh, server.port(), "/_changes", "lectus.changes.v1")) {
        socket.send("{\"type\":\"unsubscribe\",\"id\":\"x\"}");
        assertThat(SocketClient.text(socket.message(), "error")).isEqualTo("not_found");
      }
    }

    private static Answer asked(LectusServer server, String accept) {
      return server.request("GET", "/w/a%2Fb?x=1", "Accept", accept).send();
    }

    @Test
    void whoever_takes_pages_alone_is_sent_to_the_page_where_one_logs_in() {
      String page = "/_utils/log-in.html";
      TestSettings settings = new TestSettings().with(AccessKeys.AUTHENTICATION_REDIRECT, page);
      try (LectusServer paged = withUsers(settings)) {
        paged.request("PUT", "/w", "Authorization", basic("root:s:cret")).send();
        Answer sent = asked(paged, "text/html").expect(302);
        assertThat(sent.header("location"))
            .isEqualTo(
                "http://host"
                    + page
                    + "?return=%2Fw%2Fa%252Fb"
                    + "&reason=You%20are%20not%20authorized%20to%20access%20this%20db.");
        assertThat(sent.member("error")).isEqualTo("unauthorized");
        for (String accept :
            List.of("application/json, text/html", "text/html, */*;q=0.8", "text/plain", "*/*")) {
          assertThat(asked(paged, accept).status()).as(accept).isEqualTo(401);
        }
        paged
            .request("GET", "/w/a", "Accept", "text/html", "X-CouchDB-WWW-Authenticate", "Basic")
            .send()
            .expect(401);
      }
    }

    @Test
    void by_default_nobody_is_sent_elsewhere() {
      server.request("PUT", "/w", "Authorization", basic("root:s:cret")).send();
      asked(server, "text/html").expect(401);
    }
  }

  /** When sessions are over, and when they are prolonged. */
  @Nested
  class OfSessions {
    private static final byte[] SECRET = "0123456789abcdef".getBytes(StandardCharsets.UTF_8);

    private static final NamedAccount JAN =
        new NamedAccount(UserContext.named("jan", Set.of("a")), "salt");

    private static final NamedAccount COLONS =
        new NamedAccount(UserContext.named("a:b:5F", Set.of()), "salt");

    private static final CookieSettings SETTINGS =
        new CookieSettings(600, true, Optional.empty(), Optional.of("Lax"));

    private static Sessions at(long seconds) {
      return new Sessions(() -> SETTINGS, InstantSource.fixed(Instant.ofEpochSecond(seconds)));
    }

    private static Optional<Identity> identify(long seconds, String value, AccountView accounts) {
      return at(seconds).identify(value, false, accounts);
    }

    /** The accounts of a store, as a test says they are. */
    private record Known(NamedAccount one, byte[] secret) implements AccountView {
      @Override
      public Optional<NamedAccount> account(String name) {
        return Optional.of(one).filter(it -> it.user().name().equals(Optional.of(name)));
      }
    }

    private static final Known KNOWN = new Known(JAN, SECRET);

    private static String begun(NamedAccount account) {
      return SessionCookie.of(account, Instant.ofEpochSecond(1_000), SECRET).value();
    }

    @Test
    void a_session_is_over_after_its_time() {
      String value = begun(JAN);

      assertThat(identify(1_599, value, KNOWN)).isPresent();
      assertThat(identify(1_600, value, KNOWN)).isEmpty();
    }

    @Test
    void it_is_prolonged_when_a_tenth_of_its_time_is_over() {
      String value = begun(JAN);

      assertThat(identify(1_060, value, KNOWN).orElseThrow().renewedCookie()).isEmpty();
      String renewed = identify(1_061, value, KNOWN).orElseThrow().renewedCookie().orElseThrow();
      assertThat(renewed)
          .isEqualTo(
              "AuthSession="
                  + SessionCookie.of(JAN, Instant.ofEpochSecond(1_061), SECRET).value()
                  + "; Version=1; Expires=Thu, 01-Jan-1970 00:27:41 GMT; Max-Age=600; Path=/;"
                  + " HttpOnly; SameSite=Lax");
    }

    @Test
    void another_salt_or_secret_ends_it() {
      String value = begun(JAN);
      NamedAccount changed = new NamedAccount(JAN.user(), "other");

      assertThat(identify(1_001, value, new Known(changed, SECRET))).isEmpty();
      assertThat(identify(1_001, value, new Known(JAN, "other".getBytes(StandardCharsets.UTF_8))))
          .isEmpty();
      assertThat(identify(1_001, value, new Known(COLONS, SECRET))).isEmpty();
    }

    @Test
    void names_may_have_colons() {
      assertThat(identify(1_001, begun(COLONS), new Known(COLONS, SECRET)).orElseThrow().user())
          .isEqualTo(COLONS.user());
    }

    @Test
    void roles_are_those_of_the_account_now() {
      NamedAccount promoted = new NamedAccount(UserContext.named("jan", Set.of("b")), "salt");

      Identity identity = identify(1_001, begun(JAN), new Known(promoted, SECRET)).orElseThrow();

      assertThat(identity.user().roles()).containsExactly("b");
      assertThat(identity.handler()).contains("cookie");
    }

    @Test
    void what_a_browser_keeps_is_configured() {
      CookieSettings settings =
          new CookieSettings(600, false, Optional.of("example.com"), Optional.empty());

      assertThat(new Sessions(() -> settings, InstantSource.system()).cookie("x", true))
          .isEqualTo("AuthSession=x; Version=1; Secure; Domain=example.com; Path=/; HttpOnly");
    }
  }
}
