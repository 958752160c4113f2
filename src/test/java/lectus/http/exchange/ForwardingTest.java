package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import lectus.audit.testing.SoundStore;
import lectus.config.AccessKeys;
import lectus.config.HttpKeys;
import lectus.config.WebSocketKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.Bearer;
import lectus.http.testing.Connection;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.http.testing.TwoPlaces;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the old place of a database answers, between two servers. */
final class ForwardingTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final Pattern ROW = Pattern.compile("\"id\":\"([^\"]*)\"");

  private static final String ANN = TwoPlaces.basic("ann:a");

  private static TwoPlaces places;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException {
    Path keys = Files.writeString(folder.resolve("keys"), Bearer.KEYS);
    places =
        new TwoPlaces(
            stores.fresh(), stores.fresh(), new TestSettings().with(AccessKeys.JWT_KEYS, keys));
    places.before("PUT", "/_users").send();
    user("ann", "a", "[\"staff\"]");
    user("bob", "b", "[]");
  }

  @AfterAll
  static void stop() {
    places.close();
  }

  private static void user(String name, String password, String roles) {
    String id = "/_users/org.couchdb.user:" + URLEncoder.encode(name, StandardCharsets.UTF_8);
    Answer made =
        places
            .before("PUT", id)
            .json(
                "{\"name\":\"%s\",\"password\":\"%s\",\"type\":\"user\",\"roles\":%s}"
                    .formatted(name, password, roles))
            .send();
    assertThat(made.status()).as(made.toString()).isEqualTo(201);
  }

  /** Makes a database with a document, for members of the role staff and for two others. */
  private static void make(String db) {
    String path = '/' + URLEncoder.encode(db, StandardCharsets.UTF_8);
    places.before("PUT", path).send().expect(201);
    places
        .before("PUT", path + "/_security")
        .json("{\"members\":{\"roles\":[\"staff\"],\"names\":[\"j\\u00f6rg:x\",\" x\"]}}")
        .send();
    write(db, "first");
  }

  private static void moved(String db) {
    make(db);
    places.move(db);
    places.before("GET", '/' + db).send().expect(200);
  }

  private static String write(String db, String id) {
    String path = '/' + URLEncoder.encode(db, StandardCharsets.UTF_8) + '/' + id;
    Answer answer = places.before("PUT", path).json("{}").send();
    assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
    return answer.member("rev");
  }

  private static Request as(String pair, String method, String target) {
    return places.former().request(method, target).header("Authorization", TwoPlaces.basic(pair));
  }

  private static List<String> ids(String body) {
    return ROW.matcher(body).results().map(it -> it.group(1)).toList();
  }

  @Test
  void documents_and_attachments() {
    moved("plain");
    Answer made = places.before("PUT", "/plain/a%2Fb%20c").json("{\"n\":1}").send().expect(201);
    assertThat(made.header("location")).isEqualTo("http://host/plain/a%2Fb%20c");
    assertThat(made.header("set-cookie")).isNull();
    assertThat(places.after("GET", "/plain/a%2Fb%20c").send().body()).contains("\"n\":1");
    Answer read = places.before("GET", "/plain/a%2Fb%20c?revs=true").send();
    assertThat(read.body()).contains("_revisions");
    String tag = read.header("etag");
    places.before("GET", "/plain/a%2Fb%20c").header("If-None-Match", tag).send().expect(304);
    Answer head = places.before("HEAD", "/plain/a%2Fb%20c").send().expect(200);
    assertThat(head.header("content-length")).isNotEqualTo("0");
    places.before("PUT", "/plain/a%2Fb%20c").json("{}").send().expect(409);
    assertThat(places.before("GET", "/plain/none").send().member("reason")).isEqualTo("missing");
    places.before("COPY", "/plain/a%2Fb%20c").header("Destination", "copy").send().expect(201);
    places
        .before("POST", "/plain/_bulk_docs")
        .gzipped("{\"docs\":[{\"_id\":\"x\"},{\"_id\":\"y\"}]}")
        .send()
        .expect(415);
    Answer many =
        places
            .before("POST", "/plain/_bulk_docs")
            .header("Content-Type", "application/json")
            .gzipped("{\"docs\":[{\"_id\":\"x\"},{\"_id\":\"y\"}]}")
            .send()
            .expect(201);
    assertThat(ids(places.before("GET", "/plain/_all_docs").send().body()))
        .containsExactly("a/b c", "copy", "first", "x", "y");

    String large = "0123456789abcdef".repeat(1 << 18);
    Answer stored =
        places
            .before("PUT", "/plain/x/file?rev=" + many.member("rev"))
            .header("Content-Type", "image/png")
            .body(large.getBytes(StandardCharsets.UTF_8))
            .send();
    assertThat(stored.status()).as(stored.toString()).isEqualTo(201);
    assertThat(places.before("GET", "/plain/x/file").send().body()).isEqualTo(large);
    Answer part =
        places
            .before("GET", "/plain/x/file")
            .header("Range", "bytes=1-3")
            .send()
            .expect(206, "123");
    assertThat(part.header("content-range")).isEqualTo("bytes 1-3/" + large.length());
    Answer parts =
        places
            .before("GET", "/plain/x?attachments=true")
            .header("Accept", "multipart/related")
            .send();
    assertThat(parts.header("content-type")).startsWith("multipart/related");
    assertThat(parts.body()).contains(large);
    assertThat(places.before("GET", "/plain").send().body()).contains("\"doc_count\":5");
  }

  @Test
  void chunks_and_clients_that_wait_for_leave() {
    moved("leave");
    try (Connection client = places.former().connect()) {
      client.write(head("PUT", "/leave/chunked", "Transfer-Encoding: chunked\r\n"));
      client.write("8\r\n{\"a\":1}\n\r\n0\r\n\r\n");
      client.read(false).expect(201);
      client.write(head("PUT", "/leave/asked", "Content-Length: 7\r\nExpect: 100-continue\r\n"));
      client.readHead().expect(100);
      client.write("{\"a\":2}");
      client.read(false).expect(201);
    }
    try (Connection client = places.former().connect()) {
      long tooLong = 2L * TwoPlaces.MAX_REQUEST_BYTES;
      client.write(
          head(
              "PUT",
              "/leave/large",
              "Content-Length: " + tooLong + "\r\nExpect: 100-continue\r\n"));
      Answer answer = client.read(false);
      assertThat(answer.status()).as("it need not send").isEqualTo(413);
      assertThat(answer.header("connection")).isEqualTo("close");
    }
    try (Connection client = places.former().connect()) {
      long tooLong = 2L * TwoPlaces.MAX_REQUEST_BYTES;
      client.write(head("PUT", "/leave/large", "Content-Length: " + tooLong + "\r\n"));
      client.write("{\"a\":[");
      assertThat(client.read(false).status()).as("before it has sent all").isEqualTo(413);
    }
    try (Connection client = places.former().connect()) {
      client.write(head("PUT", "/leave/broken", "Transfer-Encoding: chunked\r\n"));
      client.write("2\r\n{}\r\nx\r\n");
      client.read(false).expect(400);
    }
    assertThat(places.after("GET", "/leave/asked").send().body()).contains("\"a\":2");
  }

  private static String head(String method, String target, String more) {
    return method
        + ' '
        + target
        + " HTTP/1.1\r\nHost: host\r\nContent-Type: application/json\r\nAuthorization: "
        + TwoPlaces.basic("root:root")
        + "\r\n"
        + more
        + "\r\n";
  }

  @Test
  void feeds_go_on_from_where_they_were() {
    make("fed");
    write("fed", "second");
    String since = places.before("GET", "/fed/_changes?limit=1").send().member("last_seq");
    places.move("fed");
    assertThat(ids(places.before("GET", "/fed/_changes?since=" + since).send().body()))
        .containsExactly("second");
    String path = "/fed/_changes?heartbeat=60000&since=" + since + "&feed=";
    try (Connection lines = places.before("GET", path + "continuous").open();
        Connection events = places.before("GET", path + "eventsource").open();
        SocketClient socket =
            SocketClient.connectAs(
                TwoPlaces.basic("root:root"),
                places.former().port(),
                "/fed/_changes?heartbeat=60000&since=" + since)) {
      assertThat(lines.readHead().header("content-type")).isEqualTo("application/json");
      assertThat(events.readHead().header("content-type")).isEqualTo("text/event-stream");
      assertThat(lines.chunkText()).contains("\"second\"");
      assertThat(events.chunkText()).contains("\"second\"");
      String row = socket.text();
      assertThat(row).contains("\"second\"");
      String last = row.replaceFirst(".*\"seq\":\"([^\"]*)\".*", "$1");
      Connection poll = places.before("GET", "/fed/_changes?feed=longpoll&since=" + last).open();
      Answer begun = poll.readHead().expect(200);
      write("fed", "third");
      assertThat(lines.chunkText()).contains("\"third\"");
      assertThat(events.chunkText()).contains("\"third\"");
      assertThat(socket.text()).contains("\"third\"");
      assertThat(poll.readBody(begun, false).body())
          .contains("\"third\"")
          .doesNotContain("\"second\"");
      poll.close();
      Await.until("the long poll is over there, too", () -> listeners() == 3);
    }
    Await.until("feeds end with their clients", () -> listeners() == 0);
  }

  @Test
  void readers_live_through_the_move() {
    make("live");
    write("live", "second");
    String last;
    try (SocketClient socket =
            SocketClient.connectAs(
                TwoPlaces.basic("root:root"), places.former().port(), "/live/_changes");
        Connection lines =
            places.before("GET", "/live/_changes?feed=continuous&heartbeat=60000").open();
        Conversation many = session(places.former())) {
      many.subscribe("m", "'db':'live*'");
      many.row("m", "first");
      many.row("m", "second");
      many.caughtUp("m");
      lines.readHead();
      assertThat(lines.chunkText()).contains("\"first\"");
      assertThat(socket.text()).contains("\"first\"");
      assertThat(socket.text()).contains("\"second\"");
      places.relocate("live");
      assertThat(many.socket().text()).contains("\"left\"", "\"live\"");
      last = socket.text().replaceFirst(".*\"last_seq\":\"([^\"]*)\".*", "$1");
      assertThat(socket.closeCode()).isEqualTo(1000);
      StringBuilder rest = new StringBuilder();
      while (rest.indexOf("last_seq") < 0) {
        rest.append(lines.chunkText());
      }
      assertThat(rest.toString()).contains("\"last_seq\":\"" + last + "\"");
    }
    assertThat(ids(places.before("GET", "/live/_changes?since=" + last).send().body())).isEmpty();
    write("live", "later");
    try (SocketClient socket =
        SocketClient.connectAs(
            TwoPlaces.basic("root:root"), places.former().port(), "/live/_changes?since=" + last)) {
      assertThat(socket.text()).contains("\"later\"");
    }
    assertThat(ids(places.before("GET", "/live/_changes").send().body()))
        .containsExactly("first", "second", "later");
    readersOfManyDatabasesGoOnAmidTheHistory();
  }

  @Test
  void positions_of_all_kinds_go_on() {
    make("kept");
    places.before("PUT", "/kept/_feeds/f").json("{\"channels\":\"ch\"}").send();
    places.before("POST", "/kept/_index").json("{\"index\":{\"fields\":[\"n\"]}}").send();
    for (int n = 0; n < 3; n++) {
      places.before("PUT", "/kept/d" + n).json("{\"ch\":\"a\",\"n\":" + n + "}").send();
    }
    places.before("PUT", "/kept/_local/checkpoint").json("{\"seq\":7}").send();
    String feed = "/kept/_changes?filter=_feed/f&channel=a";
    Answer begun = places.before("GET", feed + "&limit=1").send();
    assertThat(ids(begun.body())).containsExactly("d0");
    Answer found = find("");
    assertThat(found.body()).contains("\"n\":0").doesNotContain("\"n\":1");

    String bookmark = found.body().replaceFirst("(?s).*\"bookmark\": \"([^\"]*)\".*", "$1");
    places.relocate("kept");
    assertThat(ids(places.before("GET", feed + "&since=" + begun.member("last_seq")).send().body()))
        .containsExactly("d1", "d2");
    assertThat(find(",\"bookmark\":\"" + bookmark + '"').body())
        .contains("\"n\":1")
        .doesNotContain("\"n\":0", "\"n\":2");
    assertThat(places.before("GET", "/kept/_local/checkpoint").send().body()).contains("\"seq\":7");
  }

  private static Answer find(String more) {
    return places
        .before("POST", "/kept/_find")
        .json("{\"selector\":{\"n\":{\"$gte\":0}},\"sort\":[\"n\"],\"limit\":1" + more + "}")
        .send();
  }

  private static void readersOfManyDatabasesGoOnAmidTheHistory() {
    String token;
    try (Conversation client = session(places.fresh())) {
      client.subscribe("s", "'db':'live*','since':'0'");
      token = client.row("s", "first");
    }
    try (Conversation client = session(places.fresh())) {
      client.subscribe("s", "'db':'live*','since':'" + token + "'");
      client.row("s", "second");
      client.row("s", "later");
      client.caughtUp("s");
    }
  }

  private static Conversation session(LectusServer server) {
    return Conversation.over(
        SocketClient.connectAs(
            TwoPlaces.basic("root:root"), server.port(), "/_changes", "lectus.changes.v1"));
  }

  @Test
  void over_http_2() throws Exception {
    moved("second");
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
    client.send(over2("").GET().build(), BodyHandlers.ofString());
    for (BodyPublisher body :
        List.of(
            BodyPublishers.ofString("{\"_id\":\"a\"}"),
            BodyPublishers.fromPublisher(BodyPublishers.ofString("{\"_id\":\"b\"}")))) {
      HttpResponse<String> made =
          client.send(over2("").POST(body).build(), BodyHandlers.ofString());
      assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
    }
    HttpResponse<String> read =
        client.send(over2("/_all_docs").GET().build(), BodyHandlers.ofString());
    assertThat(read.version()).isEqualTo(HttpClient.Version.HTTP_2);
    assertThat(ids(read.body())).containsExactly("a", "b", "first");
    String rev = places.after("GET", "/second/a").send().member("_rev");
    assertThat(
            client
                .send(over2("/a?rev=" + rev).DELETE().build(), BodyHandlers.ofString())
                .statusCode())
        .isEqualTo(200);
  }

  private static HttpRequest.Builder over2(String path) {
    return HttpRequest.newBuilder(URI.create(places.former().url() + "/second" + path))
        .header("Content-Type", "application/json")
        .header("Authorization", TwoPlaces.basic("root:root"));
  }

  private static long listeners() {
    String figures = places.after("GET", "/_node/_local/_prometheus").send().body();
    return figures
        .lines()
        .filter(line -> line.startsWith("lectus_feed_listeners "))
        .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' '))))
        .sum();
  }

  @Test
  void a_socket_keeps_its_messages_and_codes() {
    moved("socket");
    try (SocketClient socket =
        SocketClient.connectAs(
            TwoPlaces.basic("ann:a"), places.former().port(), "/socket/_changes")) {
      assertThat(socket.text()).contains("\"first\"");
      socket.send("hello");
      assertThat(socket.closeCode()).isEqualTo(1008);
      assertThat(socket.closeReason()).isEqualTo("This socket takes no messages.");
    }
    socket(as("bob:b", "GET", "/socket/_changes")).send().expect(403);
    try (Connection client = socket(as("ann:a", "GET", "/socket/_changes")).open()) {
      Answer opened = client.readHead().expect(101);
      assertThat(opened.header("sec-websocket-accept")).isNotEmpty();
      assertThat(new String(client.frame().payload(), StandardCharsets.UTF_8)).contains("first");
    }
    Answer ofPage =
        socket(as("ann:a", "GET", "/socket/_changes"))
            .header("Origin", "http://page.example")
            .send();
    assertThat(ofPage.member("reason")).contains("cors.origins");
  }

  @Test
  void a_feed_ends_with_its_user() {
    user("cleo", "c", "[\"staff\"]");
    moved("watched");
    try (Connection feed =
            as("cleo:c", "GET", "/watched/_changes?feed=continuous&heartbeat=60000").open();
        SocketClient socket =
            SocketClient.connectAs(
                TwoPlaces.basic("cleo:c"), places.former().port(), "/watched/_changes")) {
      feed.readHead();
      assertThat(feed.chunkText()).contains("\"first\"");
      assertThat(socket.text()).contains("\"first\"");
      String rev = places.before("GET", "/_users/org.couchdb.user:cleo").send().member("_rev");
      places.before("DELETE", "/_users/org.couchdb.user:cleo?rev=" + rev).send();
      assertThat(feed.isAtEnd()).isTrue();
      socket.closeCode();
    }
    as("cleo:c", "GET", "/watched/first").send().expect(401);
  }

  @Test
  void a_feed_ends_with_the_right_at_the_new_place() {
    moved("lost");
    try (Connection feed =
            as("ann:a", "GET", "/lost/_changes?feed=continuous&heartbeat=60000").open();
        SocketClient socket =
            SocketClient.connectAs(
                TwoPlaces.basic("ann:a"), places.former().port(), "/lost/_changes")) {
      feed.readHead();
      assertThat(feed.chunkText()).contains("\"first\"");
      assertThat(socket.text()).contains("\"first\"");
      places.after("PUT", "/lost/_security").json("{\"members\":{\"names\":[\"bob\"]}}").send();
      assertThat(feed.chunkText()).contains("\"forbidden\"");
      assertThat(socket.closeCode()).isEqualTo(1008);
    }
  }

  @Test
  void feeds_end_when_the_name_is_given_up() {
    moved("name");
    try (Connection feed =
            places.before("GET", "/name/_changes?feed=continuous&heartbeat=60000").open();
        SocketClient socket =
            SocketClient.connectAs(
                TwoPlaces.basic("root:root"), places.former().port(), "/name/_changes")) {
      feed.readHead();
      assertThat(feed.chunkText()).contains("\"first\"");
      assertThat(socket.text()).contains("\"first\"");
      places.before("DELETE", "/name").send().expect(200);
      assertThat(feed.isAtEnd()).isTrue();
      socket.closeCode();
    }
  }

  @Test
  void the_former_place_says_who_asks_and_the_new_one_what_they_may() throws Exception {
    moved("rights");
    as("ann:a", "GET", "/rights/first").send().expect(200);
    as("ann:a", "PUT", "/rights/_design/d").json("{}").send().expect(403);
    as("bob:b", "GET", "/rights/first").send().expect(403);
    as("ann:wrong", "GET", "/rights/first").send().expect(401);
    places.former().get("/rights/first").expect(401);
    Request ofOtherUser =
        places.fresh().request("GET", "/rights/first").header("Authorization", ANN);
    assertThat(ofOtherUser.send().status()).as("users are the old place's").isEqualTo(401);

    places.after("PUT", "/rights/_security").json("{\"members\":{\"names\":[\"bob\"]}}").send();
    as("bob:b", "GET", "/rights/first").send().expect(200);
    as("ann:a", "GET", "/rights/first").send().expect(403);
  }

  /** No name and no role becomes another one on its way. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "j\\u00f6rg:x|[]|200",
        "j\\u00f6rg|[]|403",
        "y|[\"staff\"]|200",
        "y|[\"x,staff\"]|403",
        "y|[\" staff\"]|403",
        "y|[\"x,_admin\"]|403",
        "y|[\"_admin\"]|200",
        "' x'|[]|403",
        "y\\nX-Auth-CouchDB-Roles: _admin|[]|403"
      })
  void names_and_roles(String name, String roles, int status) {
    if (places.before("HEAD", "/names").send().status() == 404) {
      moved("names");
    }
    String token =
        Bearer.hs256(
            "{\"sub\":\"%s\",\"_couchdb.roles\":%s,\"exp\":4000000000}".formatted(name, roles));
    Answer answer =
        places
            .former()
            .request("GET", "/names/first")
            .header("Authorization", "Bearer " + token)
            .send();
    assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
  }

  @ParameterizedTest
  @ValueSource(strings = {"bob:b", ""})
  void what_a_client_says_of_itself_is_not_passed_on(String pair) throws Exception {
    String db = "forged" + pair.length();
    moved(db);
    Request request = places.former().request("GET", '/' + db + "/first");
    if (!pair.isEmpty()) {
      request.header("Authorization", TwoPlaces.basic(pair));
    }
    request
        .header("X-Auth-CouchDB-UserName", "root")
        .header("X-Auth-CouchDB-Roles", "_admin")
        .header("X-Auth-CouchDB-Token", token("root"))
        .header("Connection", "X-Auth-CouchDB-Token")
        .send()
        .expect(pair.isEmpty() ? 401 : 403);
  }

  private static String token(String name) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(TwoPlaces.SECRET.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    return HexFormat.of().formatHex(mac.doFinal(name.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void the_secret_is_good_for_its_database_alone() throws Exception {
    moved("own");
    places.after("PUT", "/other").send();
    vouched("/own/_purged_infos", "x", token("x")).expect(200);
    vouched("/own/first", "", token("")).expect(200);
    vouched("/own/first", "x", token("y")).expect(401);
    for (String path : List.of("/other", "/other/_security", "/_all_dbs", "/_users/_all_docs")) {
      assertThat(vouched(path, "x", token("x")).status()).as(path).isEqualTo(401);
    }
    assertThat(vouched("/_session", "x", token("x")).body()).contains("\"name\":null");
  }

  private static Answer vouched(String path, String name, String token) {
    return places
        .fresh()
        .request("GET", path)
        .header("X-Auth-CouchDB-UserName", name)
        .header("X-Auth-CouchDB-Roles", "_admin")
        .header("X-Auth-CouchDB-Token", token)
        .send();
  }

  @Test
  void it_ends_when_it_is_over_or_given_up() {
    make("over");
    long past = Instant.now().getEpochSecond() - 1;
    places.move("over", "over", OptionalLong.of(past));
    Answer over = places.before("GET", "/over/first").send().expect(404);
    assertThat(over.member("reason"))
        .isEqualTo("The database has moved to " + places.fresh().url() + "/over.");
    assertThat(replicate("root:root", "over", "none").member("reason"))
        .isEqualTo("could not open over, which has moved to " + places.fresh().url() + "/over");
    places.before("PUT", "/over").send().expect(412);
    as("ann:a", "DELETE", "/over").send().expect(401);
    places.before("DELETE", "/over").send().expect(200);
    assertThat(places.before("GET", "/over/first").send().member("reason"))
        .isEqualTo("Database does not exist.");
    places.before("PUT", "/over").send().expect(201);
    places.after("GET", "/over/first").send().expect(200);
  }

  @Test
  void what_is_deleted_at_either_place_comes_back_as_it_was() {
    make("back");
    places.relocate("back");
    for (Request keeping : List.of(places.before("PUT", KEEPING), places.after("PUT", KEEPING))) {
      keeping.json("\"3600\"").send().expect(200);
    }
    places.before("DELETE", "/back").send().expect(200);
    undelete(places::before, "").expect(200);
    write("back", "second");
    places.after("GET", "/back/second").send().expect(200);
    assertThat(places.before("GET", "/_db_updates?descending=true&limit=1").send().body())
        .contains("{\"db_name\":\"back\",\"type\":\"deleted\"");

    places.after("DELETE", "/back").send().expect(200);
    places.before("GET", "/back/second").send().expect(404);
    undelete(places::after, "").expect(200);
    as("ann:a", "GET", "/back/second").send().expect(200);
    write("back", "third");
    places.after("GET", "/back/third").send().expect(200);

    places.before("DELETE", "/back").send().expect(200);
    undelete(places::before, ",\"force\":1").expect(400);
    undelete(places::before, ",\"force\":true").expect(200);
    assertThat(ids(places.before("GET", "/back/_all_docs").send().body())).containsExactly("first");
    write("back", "here");
    places.after("GET", "/back/here").send().expect(404);
  }

  @Test
  void replications_by_name_go_on_at_the_new_place() {
    make("copied");
    for (String target : List.of("/target", "/bobs")) {
      places.before("PUT", target).send();
    }
    places.before("PUT", "/bobs/_security").json("{}").send();
    assertThat(replicate("root:root", "copied", "target").body()).contains("\"docs_written\":1");
    places.relocate("copied");
    assertThat(replicate("root:root", "copied", "target").body())
        .as("from its checkpoint")
        .contains("\"no_changes\":true");
    write("copied", "second");
    assertThat(replicate("root:root", "copied", "target").body()).contains("\"docs_read\":1");
    write("target", "third");
    assertThat(replicate("root:root", "target", "copied").body()).contains("\"docs_written\":1");
    places.after("GET", "/copied/third").send().expect(200);
    replicate("bob:b", "copied", "bobs").expect(403);
    assertThat(replicate("ann:a", "copied", "bobs").body()).contains("\"docs_written\":3");
    replicate("root:root", "copied", "target\",\"continuous\":true,\"_\":\"");
    write("copied", "fourth");
    Await.until("it goes on", () -> places.before("GET", "/target/fourth").send().status() == 200);

    places.before("DELETE", "/copied").send().expect(200);
    places.after("PUT", "/copied/fifth").json("{}").send();
    Await.until(
        "it has ended",
        () -> !places.before("GET", "/_active_tasks").send().body().contains("replication"));
    assertThat(replicate("root:root", "copied", "target").member("reason"))
        .isEqualTo("could not open copied");
  }

  private static Answer replicate(String pair, String source, String target) {
    return as(pair, "POST", "/_replicate")
        .json("{\"source\":\"" + source + "\",\"target\":\"" + target + "\"}")
        .send();
  }

  private static final String KEEPING = "/_node/_local/_config/couchdb/db_expiration_retention_sec";

  /** Brings back what was deleted of the name "back". */
  private static Answer undelete(BiFunction<String, String, Request> place, String more) {
    String kept = place.apply("GET", "/_deleted_dbs?key=%22back%22").send().body();
    String at = kept.replaceFirst("(?s).*\"timestamp\":\"([^\"]*)\".*", "$1");
    return place
        .apply("POST", "/_deleted_dbs")
        .json("{\"undelete\":{\"source\":\"back\",\"timestamp\":\"" + at + '"' + more + "}}")
        .send();
  }

  @Test
  void feeds_end_when_the_time_is_over() {
    boolean wasInTime = false;
    for (int seconds = 2; !wasInTime; seconds *= 4) {
      String db = "timed" + seconds;
      make(db);
      places.move(db, db, OptionalLong.of(Instant.now().getEpochSecond() + seconds));
      String path = '/' + db + "/_changes";
      // From then on the server knows that it has moved.
      as("ann:a", "GET", path).send();
      try (Connection feed = as("ann:a", "GET", path + "?feed=continuous&heartbeat=60000").open();
          Connection socket = socket(as("ann:a", "GET", path)).open()) {
        wasInTime =
            shows(feed, 200, Connection::chunkText)
                && shows(
                    socket, 101, it -> new String(it.frame().payload(), StandardCharsets.UTF_8));
        if (wasInTime) {
          feed.readToEnd();
          socket.readToEnd();
          for (String pair : List.of("ann:a", "bob:b", "root:root")) {
            Answer over = as(pair, "GET", path).send().expect(404);
            assertThat(over.member("reason")).endsWith(places.fresh().url() + '/' + db + '.');
          }
        }
      }
    }
  }

  /** Whether a feed begins, and shows a row, before it ends. */
  private static boolean shows(Connection feed, int status, Function<Connection, String> row) {
    try {
      return feed.readHead().status() == status && row.apply(feed).contains("\"first\"");
    } catch (UncheckedIOException ended) {
      return false;
    }
  }

  @Test
  void under_another_name_and_for_a_time() {
    make("one/two");
    places.move("one/two", "three", OptionalLong.of(Instant.now().getEpochSecond() + 100_000));
    places.before("GET", "//one%2Ftwo//first").send().expect(200);
    assertThat(places.before("PUT", "/one%2Ftwo/new").json("{}").send().header("location"))
        .isEqualTo("http://host/one%2Ftwo/new");
    places.after("GET", "/three/new").send().expect(200);
    places.before("PUT", "/one%2Ftwo").send().expect(412);
    places.before("DELETE", "/one%2Ftwo").send().expect(200);
    places.after("GET", "/three/new").send().expect(200);
  }

  @Test
  void over_two_places() {
    make("last");
    places.vouchAtFormer("last");
    make("started");
    places.move("started", "between", OptionalLong.empty());
    places.moveOn("between", places.former().url() + "/last");
    as("ann:a", "GET", "/started/first").send().expect(200);
    as("bob:b", "GET", "/started/first").send().expect(403);
    places.before("PUT", "/started/new").json("{}").send().expect(201);
    places.before("GET", "/last/new").send().expect(200);
  }

  @Test
  void a_circle_ends() {
    moved("circle");
    places.moveOn("circle", places.former().url() + "/circle");
    Answer answer = places.before("GET", "/circle/first").send().expect(404);
    assertThat(answer.member("reason")).contains("has moved to", "in a circle");
  }

  @Test
  void a_place_that_is_down_or_has_no_admin() throws Exception {
    Store store = stores.fresh();
    try (ServerSocket place = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        LectusServer server = LectusServer.start(store)) {
      server.put("/own");
      TwoPlaces.vouch(store, "own");
      Request nobody =
          server.request(
              "PUT",
              "/own/_design/d",
              "X-Auth-CouchDB-UserName",
              "",
              "X-Auth-CouchDB-Token",
              token(""));
      assertThat(nobody.json("{}").send().status()).as("it has no admin").isEqualTo(401);
      String url = elsewhere(server, store, "db", place);
      place.close();
      try (Connection client = server.connect()) {
        client.write("GET /db/doc HTTP/1.1\r\nHost: host\r\n\r\n");
        assertDoesNotAnswer(url, client.read(false));
        client.write("GET /db/doc HTTP/1.1\r\nHost: host\r\n\r\n");
        assertDoesNotAnswer(url, client.read(false));
        client.write("PUT /db/doc HTTP/1.1\r\nHost: host\r\nContent-Length: 2\r\n\r\n{}");
        assertDoesNotAnswer(url, client.read(false));
      }
    }
  }

  @Test
  void a_place_that_is_silent() throws IOException {
    Store store = stores.fresh();
    TestSettings patient =
        new TestSettings()
            .with(HttpKeys.REQUEST_SECONDS, 4)
            .with(WebSocketKeys.WEBSOCKET_IDLE_SECONDS, 4);
    Connection feed;
    try (ServerSocket place = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        ServerSocket mute = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        LectusServer server = LectusServer.start(store, patient)) {
      String url = elsewhere(server, store, "db", place);
      elsewhere(server, store, "begun", mute);
      feed = server.request("GET", "/db/_changes?feed=continuous").open();
      try (Connection heard =
              server.request("GET", "/db/_changes?feed=longpoll&heartbeat=10").open();
          Connection quiet = server.request("GET", "/db/_changes?feed=live&timeout=10").open();
          Connection begun =
              answered(
                  server.request("GET", "/begun/_changes?feed=longpoll&timeout=1"), mute, 200);
          Connection joined =
              answered(socket(server.request("GET", "/begun/_changes")), mute, 101)) {
        assertDoesNotAnswer(url, server.get("/db/doc"));
        assertDoesNotAnswer(url, heard.read(false));
        assertDoesNotAnswer(url, quiet.read(false));
        assertThat(begun.isAtEnd()).isTrue();
        assertThat(joined.isAtEnd()).isTrue();
      }
    }
    assertThat(feed.isAtEnd()).as("it ends when the server stops").isTrue();
    feed.close();
  }

  private static String elsewhere(LectusServer server, Store store, String db, ServerSocket place) {
    String url = "http://127.0.0.1:" + place.getLocalPort() + "/" + db;
    server.put("/" + db);
    TwoPlaces.relocate(store, db, url);
    return url;
  }

  /** Begins a request to which a place answers with a head, and no more. */
  private static Connection answered(Request request, ServerSocket place, int status)
      throws IOException {
    Connection client = request.open();
    place
        .accept()
        .getOutputStream()
        .write(
            ("HTTP/1.1 "
                    + status
                    + " Begun\r\n"
                    + (status == 101
                        ? "Upgrade: websocket\r\nConnection: Upgrade"
                        : "Transfer-Encoding: chunked")
                    + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII));
    client.readHead().expect(status);
    return client;
  }

  private static Request socket(Request request) {
    return request
        .header("Upgrade", "websocket")
        .header("Connection", "keep-alive, Upgrade")
        .header("Sec-WebSocket-Version", "13")
        .header("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==");
  }

  private static void assertDoesNotAnswer(String url, Answer answer) {
    answer.expect(503);
    assertThat(answer.header("retry-after")).isEqualTo("1");
    assertThat(answer.member("reason"))
        .isEqualTo("The database has moved to " + url + ", which does not answer just now.");
  }

  @Test
  void whoever_comes_in_the_moment_of_the_move_is_passed_on_or_asked_to_come_again() {
    for (String db : List.of("moment", "later")) {
      make(db);
    }
    places.move("moment");
    places.before("GET", "/moment/_all_docs").send().expect(200);
    places.move("later");
    Answer late = places.before("PUT", "/later/doc").json("{}").send();
    // Unless the server has looked at the database since.
    if (late.status() != 201) {
      late.expect(503);
      assertThat(late.member("reason")).contains("has just moved to", "Ask again.");
      places.before("PUT", "/later/doc").json("{}").send().expect(201);
    }
    places.after("GET", "/later/doc").send().expect(200);
  }

  @Test
  void what_names_it_elsewhere() {
    moved("named");
    assertThat(places.before("GET", "/_all_dbs").send().body()).contains("\"named\"");
    assertThat(places.before("POST", "/_dbs_info").json("{\"keys\":[\"named\"]}").send().body())
        .contains("\"error\":\"not_found\"");
    assertThat(places.before("GET", "/_db_updates").send().body())
        .contains("{\"db_name\":\"named\",\"type\":\"deleted\"");
    try (Conversation client = session(places.former())) {
      client.subscribe("s", "'db':'named'");
      assertThat(client.socket().text())
          .contains("\"not_found\"", "has moved to " + places.fresh().url() + "/named.");
    }
  }
}
