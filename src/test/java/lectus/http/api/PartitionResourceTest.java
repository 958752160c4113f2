package lectus.http.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import lectus.changes.page.DatabaseInfo;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.NameRange;
import lectus.database.SecurityObject;
import lectus.database.UserContext;
import lectus.database.testing.TestLayout;
import lectus.http.api.DatabaseApi.InfosOfRange;
import lectus.http.api.DatabaseApi.VisibleNames;
import lectus.http.auth.DatabaseGuard;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Partitioned databases, as in CouchDB's documentation and tests. */
final class PartitionResourceTest {
  private static final Pattern ROW = Pattern.compile("\\{\"id\":\"([^\"]*)\"");

  private static final UserContext ANN = UserContext.named("ann", Set.of());

  private static final int DATABASES = 60;

  @RegisterExtension
  static final LectusServer server = LectusServer.shared("/p?partitioned=true", "/w");

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();

  private final TransactionRunner transactions =
      new TransactionRunner(store, TransactionLimits.DEFAULT);

  private final Catalogue catalogue = new Catalogue(store, transactions, InstantSource.system());

  private final DatabaseGuard guard = new DatabaseGuard(catalogue, SecurityObject.EVERYBODY);

  private static List<String> ids(Answer list) {
    list.expect(200);
    List<String> ids = new ArrayList<>();
    Matcher matcher = ROW.matcher(list.body());
    while (matcher.find()) {
      ids.add(matcher.group(1));
    }
    return ids;
  }

  @Test
  void documents_are_written_and_read_under_their_whole_ids() {
    server.write("/p/sensor:a", "{\"v\":1}");
    server.post("/p", "{\"_id\":\"sensor:b:c\"}").expect(201);
    assertThat(server.get("/p/sensor:a").member("_id")).isEqualTo("sensor:a");
    server.write("/p/_design/d", "{}");
    server.put("/p/_local/l", "{}").expect(201);
    assertThat(ids(server.get("/p/_all_docs")))
        .containsExactly("_design/d", "sensor:a", "sensor:b:c");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          plain    | illegal_docid     | Doc id must be of form partition:id
          a:       | illegal_docid     | Document id must not be empty
          a:_b     | illegal_docid     | Only reserved document ids may start with underscore.
          _a:b     | illegal_docid     | Only reserved document ids may start with underscore.
          :b       | illegal_partition | Partition must not be empty
          """)
  void ids_name_a_partition(String id, String error, String reason) {
    String json = "{\"_id\":\"" + id + "\"}";
    for (Answer answer :
        List.of(
            server.put("/p/" + id, "{}"),
            server.put("/p/" + id + "?new_edits=false", "{\"_rev\":\"1-a\"}"),
            server.post("/p", json),
            server.post("/p/_bulk_docs", "{\"docs\":[{\"_id\":\"ok:1\"}," + json + "]}"),
            server.post(
                "/p/_bulk_docs", "{\"atomic\":true,\"docs\":[{\"_id\":\"ok:1\"}," + json + "]}"))) {
      answer.expect(400);
      assertThat(answer.member("error")).isEqualTo(error);
      assertThat(answer.member("reason")).isEqualTo(reason);
    }
    assertThat(server.get("/p").body()).contains("\"doc_count\":0,");
    if (id.charAt(0) != '_') {
      assertThat(server.get("/p/" + id).member("error")).isEqualTo(error);
      assertThat(server.post("/p/_bulk_get", "{\"docs\":[{\"id\":\"" + id + "\"}]}").body())
          .contains("{\"error\":{\"rev\":null,\"reason\":\"" + reason + "\"")
          .contains("\"error\":\"" + error + "\"}");
      assertThat(server.put("/w/" + id, "{}").status()).as("elsewhere").isEqualTo(201);
    }
  }

  @Test
  void an_id_made_by_the_server_has_no_partition() {
    Answer answer = server.post("/p", "{}").expect(400);
    assertThat(answer.member("reason")).isEqualTo("Doc id must be of form partition:id");
    server.post("/p/_bulk_docs", "{\"docs\":[{}]}").expect(400);
  }

  @Test
  void a_copy_needs_a_partition_too() {
    server.write("/p/a:1", "{}");
    Answer copy = server.request("COPY", "/p/a:1", "Destination", "plain").send().expect(400);
    assertThat(copy.member("error")).isEqualTo("illegal_docid");
  }

  @Test
  void a_partition_tells_its_counts_and_sizes() {
    server.write("/p/a:1", "{\"v\":1}");
    String gone = server.write("/p/a:2", "{\"v\":2}");
    server.write("/p/b:1", "{\"v\":3}");
    server.write("/p/_design/a:d", "{}");
    server.delete("/p/a:2?rev=" + gone);

    String one = server.get("/p/_partition/b").body();
    Matcher sizes = Pattern.compile("\"sizes\":\\{\"active\":(\\d+),\"external\":7}").matcher(one);
    assertThat(sizes.find()).isTrue();
    assertThat(Integer.parseInt(sizes.group(1))).isPositive();
    assertThat(one)
        .startsWith("{\"db_name\":\"p\",")
        .endsWith("\"partition\":\"b\",\"doc_count\":1,\"doc_del_count\":0}\n");
    assertThat(server.get("/p/_partition/a").body())
        .endsWith("\"partition\":\"a\",\"doc_count\":1,\"doc_del_count\":1}\n");
    server
        .get("/p/_partition/none")
        .expect(
            "{\"db_name\":\"p\",\"sizes\":{\"active\":0,\"external\":0},"
                + "\"partition\":\"none\",\"doc_count\":0,\"doc_del_count\":0}\n");
    assertThat(server.get("/p").body()).contains("\"doc_count\":3,");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          /p/_partition                        | bad_request       | invalid_partition_req
          /p/_partition/                       | bad_request       | invalid_partition_req
          /p/_partition/_a                     | illegal_partition | Partition must not start with an underscore
          /p/_partition/a:b                    | illegal_partition | Partition must not contain a colon
          /p/_partition//_all_docs             | illegal_partition | Partition must not start with an underscore
          /p/_partition/_a/_all_docs           | illegal_partition | Partition must not start with an underscore
          /p/_partition/a/_all_docs?partition=b | bad_request      | Conflicting value for `partition` in query string
          /p/_partition/a/_all_docs?limit=x    | query_parse_error | Invalid value for integer: "x"
          /w/_partition/a                      | bad_request       | database is not partitioned
          /w/_partition/a/_all_docs            | bad_request       | database is not partitioned
          /w/_all_docs?partition=a             | query_parse_error | `partition` parameter is not supported on this db
          """)
  void what_is_wrong_is_400(String target, String error, String reason) {
    Answer answer = server.get(target).expect(400);
    assertThat(answer.member("error")).isEqualTo(error);
    assertThat(answer.body()).contains(reason.replace("\"", "\\\""));
  }

  @Test
  void what_is_not_there_is_404_and_other_methods_405() {
    server.get("/none/_partition/a").expect(404);
    server.get("/none/_partition/a/_all_docs").expect(404);
    server.get("/p/_partition/a/_none").expect(404);
    server.put("/p/_partition/a", "{}").expect(405);
    server.delete("/p/_partition/a/_all_docs").expect(405);
    server.get("/p/_partition/a/_all_docs/queries").expect(405);
  }

  @Test
  void a_partition_lists_its_documents() {
    for (String id : List.of("a:1", "a:2", "a:22", "a:3", "a", "b:1", "a;", "a0:1", "A:1")) {
      if (id.contains(":")) {
        server.write("/p/" + id, "{\"v\":\"" + id + "\"}");
      }
    }
    server.write("/p/_design/a:x", "{}");
    String list = "/p/_partition/a/_all_docs";

    assertThat(ids(server.get(list))).containsExactly("a:1", "a:2", "a:22", "a:3");
    assertThat(server.get(list).body()).startsWith("{\"total_rows\":4,\"offset\":0,");
    assertThat(ids(server.get("/p/_all_docs?partition=a"))).isEqualTo(ids(server.get(list)));
    assertThat(ids(server.get(list + "?descending=true&limit=2"))).containsExactly("a:3", "a:22");
    assertThat(ids(server.get(list + "?skip=1&limit=2"))).containsExactly("a:2", "a:22");
    assertThat(ids(server.get(list + "?startkey=%22a:2%22"))).containsExactly("a:2", "a:22", "a:3");
    assertThat(server.get(list + "?startkey=%22a:2%22").body()).contains("\"offset\":1,");
    assertThat(ids(server.get(list + "?startkey=%22A%22&endkey=%22z%22"))).hasSize(4);
    assertThat(ids(server.get(list + "?startkey=%22z%22&endkey=%22A%22&descending=true")))
        .containsExactly("a:3", "a:22", "a:2", "a:1");
    assertThat(ids(server.get(list + "?startkey=%22a:2%22&endkey=%22a:3%22&inclusive_end=false")))
        .containsExactly("a:2", "a:22");
    assertThat(ids(server.get(list + "?key=%22a:22%22"))).containsExactly("a:22");
    assertThat(ids(server.get(list + "?key=%22b:1%22"))).isEmpty();
    assertThat(ids(server.get(list + "?startkey=%22b%22"))).isEmpty();
    assertThat(ids(server.get(list + "?endkey=%22A%22"))).isEmpty();
    assertThat(server.get(list + "?include_docs=true&key=%22a:3%22").body())
        .contains("\"v\":\"a:3\"");
    assertThat(ids(server.get("/p/_partition/none/_all_docs"))).isEmpty();
  }

  @Test
  void keys_and_queries_stay_within_the_partition() {
    server.write("/p/a:1", "{}");
    server.write("/p/a:2", "{}");
    server.write("/p/b:1", "{}");
    String list = "/p/_partition/a/_all_docs";

    Answer keys = server.post(list, "{\"keys\":[\"a:2\",\"b:1\",\"a:1\"]}");
    assertThat(ids(keys)).containsExactly("a:2", "a:1");
    assertThat(keys.body()).contains("{\"key\":\"b:1\",\"error\":\"not_found\"}");
    assertThat(ids(server.post(list, "{\"limit\":1}"))).containsExactly("a:1");
    assertThat(ids(server.post(list + "/queries", "{\"queries\":[{},{\"descending\":true}]}")))
        .containsExactly("a:1", "a:2", "a:2", "a:1");
  }

  private static DatabaseName name(int number) {
    return DatabaseName.of("db%02d".formatted(number));
  }

  private static List<String> keys(JsonBuffer json) {
    return ((JsonArray) JsonValue.parse(json.toBytes()))
        .elements().stream()
            .map(row -> ((JsonString) ((JsonObject) row).get("key").orElseThrow()).value())
            .toList();
  }

  @Test
  void a_database_whose_members_changed_between_two_pages_is_left_out() {
    IntStream.range(0, DATABASES).forEach(it -> catalogue.create(name(it), TestLayout.OPTIONS));
    NameRange all =
        new NameRange(Optional.empty(), Optional.empty(), true, false, 0, Long.MAX_VALUE);
    InfosOfRange body =
        new InfosOfRange(
            new VisibleNames(catalogue, guard, ANN, all),
            new DatabaseInfo(catalogue, transactions));
    JsonBuffer json = new JsonBuffer(1024);
    assertThat(body.appendNext(json)).isTrue();

    catalogue.secure(name(DATABASES - 2), "{\"members\":{\"names\":[\"bob\"]}}".getBytes(UTF_8));
    while (body.appendNext(json)) {}

    assertThat(keys(json))
        .containsExactlyElementsOf(
            IntStream.range(0, DATABASES)
                .filter(it -> it != DATABASES - 2)
                .mapToObj(it -> name(it).text())
                .toList());
  }
}
