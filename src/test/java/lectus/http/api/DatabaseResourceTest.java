package lectus.http.api;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.StoreDatabases;
import lectus.database.DatabaseName;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code /{db}} and the administration of a database. */
final class DatabaseResourceTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  @ParameterizedTest
  @CsvSource({
    "GET,     /a?rev=x,                     400",
    "GET,     /a?open_revs=x,               400",
    "GET,     /_all_docs?limit=x,           400",
    "GET,     /_changes?since=x,            400",
    "GET,     /_changes?filter=_view&view=, 400",
    "GET,     /_partition/p/_all_docs?group=x, 400",
    "POST,    /_bulk_docs,                  415",
    "PATCH,   /a,                           405",
    "PATCH,   '',                           405",
    "POST,    /_find,                       415",
    "PUT,     /a/attachment,                400",
    "GET,     /_design/d/_show/v,           501"
  })
  void what_is_wrong_with_a_request_is_told_of_databases_that_are_there(
      String method, String below, int status) {
    Answer absent = server.request(method, "/nodb" + below).send().expect(404);
    assertThat(absent.member("reason")).isEqualTo("Database does not exist.");

    server.put("/nodb?partitioned=true");
    server.request(method, "/nodb" + below).send().expect(status);
  }

  @Test
  void what_is_wrong_with_a_body_is_too() {
    for (String target : new String[] {"/nodb/a", "/nodb/_security", "/nodb/_local/x"}) {
      server.put(target, "{").expect(404);
    }
    for (String target : new String[] {"/nodb", "/nodb/_bulk_docs", "/nodb/_revs_diff"}) {
      server.post(target, "{").expect(404);
    }
    server.put("/nodb");
    server.put("/nodb/a", "{").expect(400);
    server.post("/nodb/_bulk_docs", "{").expect(400);
  }

  @Test
  void databases_are_created_and_deleted_without_being_looked_up() {
    server.put("/nodb?q=0").expect(400);
    server.delete("/nodb?rev=1-a").expect(400);
    server.get("/_all_dbs?limit=x").expect(400);
    server.request("PATCH", "/_all_dbs").send().expect(405);
  }

  @Test
  void put_creates_once() {
    Answer created = server.put("/w%2Fx").expect(201);
    assertThat(created.reason()).isEqualTo("Created");
    assertThat(created.header("location")).isEqualTo("http://host/w%2Fx");
    created.expect("{\"ok\":true}\n");
    assertThat(created.header("content-length")).isEqualTo("12");
    Answer again = server.put("/w%2Fx").expect(412);
    assertThat(again.reason()).isEqualTo("Precondition Failed");
    again.expect(
        "{\"error\":\"file_exists\",\"reason\":\"The database could not be created, the file"
            + " already exists.\"}\n");
  }

  @Test
  void get_tells_of_it() {
    server.put("/w");
    server.write("/w/a", "{\"v\":1}");
    String gone = server.write("/w/b", "{}");
    server.delete("/w/b?rev=" + gone);

    Answer info = server.get("/w").expect(200);
    assertThat(info.body())
        .matches(
            "\\{\"instance_start_time\":\"\\d+\",\"db_name\":\"w\",\"purge_seq\":\"0[^\"]*\",\"update_seq\":\"[0-9a-f]{26,}\",\"sizes\":\\{\"file\":\\d+,\"external\":\\d+,\"active\":\\d+},\"props\":\\{\"layout\":\"\\w+\"},\"doc_del_count\":1,\"doc_count\":1,\"disk_format_version\":8,\"compact_running\":false,\"cluster\":\\{\"q\":1,\"n\":1,\"w\":1,\"r\":1}}\n");
    server.get("/w/").expect(info.body());
    assertThat(server.head("/w").header("content-length")).isEqualTo(info.header("content-length"));
  }

  @Test
  void what_is_not_there_is_404_with_all_below_it() {
    String answer = "{\"error\":\"not_found\",\"reason\":\"Database does not exist.\"}\n";

    Answer absent = server.get("/nodb").expect(404);
    assertThat(absent.reason()).isEqualTo("Object Not Found");
    absent.expect(answer);
    for (String below :
        new String[] {"a", "_all_docs", "_changes", "_security", "_revs_limit", "_local/x"}) {
      server.get("/nodb/" + below).expect(answer);
      server.head("/nodb/" + below).expect(404);
    }
    server.put("/nodb/a", "{}").expect(answer);
    server.delete("/nodb").expect(answer);
    server.delete("/nodb/a?rev=1-a").expect(answer);
    server.post("/nodb", "{}").expect(answer);
    server.post("/nodb/_bulk_docs", "{\"docs\":[]}").expect(answer);
    server.post("/nodb/_bulk_docs", "{\"docs\":[{}]}").expect(answer);
    server.post("/nodb/_bulk_get", "{\"docs\":[{\"id\":\"a\"}]}").expect(answer);
    server.post("/nodb/_revs_diff", "{}").expect(answer);
    server.post("/nodb/_ensure_full_commit", "").expect(answer);
    server.get("/nodb/_changes?feed=continuous").expect(answer);
    server.put("/nodb/_security", "{}").expect(answer);
  }

  @Test
  void a_name_has_at_most_238_characters() {
    String longest = "n".repeat(DatabaseName.MAX_LENGTH);
    Answer refused = server.put("/n" + longest);

    server.put("/" + longest).expect(201);
    refused.expect(400);
    assertThat(refused.member("error")).isEqualTo("database_name_too_long");
    assertThat(refused.member("reason"))
        .isEqualTo("At least one path segment of `n" + longest + "` is too long.");
    server.get("/n" + longest).expect(404);
    assertThat(server.put("/N" + longest).member("error")).isEqualTo("illegal_database_name");
  }

  @ParameterizedTest
  @ValueSource(strings = {"W", "1w", "_x", "w%20x", "w%21", "w.x", "%C3%BC"})
  void an_illegal_name_cannot_be_created_and_is_not_there(String name) {
    Answer refused = server.put("/" + name).expect(400);
    assertThat(refused.member("error")).isEqualTo("illegal_database_name");
    assertThat(refused.member("reason")).startsWith("Name: '");
    server.get("/" + name).expect(404);
  }

  @Test
  void delete_deletes_all_of_it() {
    server.put("/w");
    server.write("/w/a", "{}");

    server.delete("/w?rev=1-a").expect(400);
    server.get("/w").expect(200);
    server.delete("/w").expect(200, "{\"ok\":true}\n");
    server.get("/w/a").expect(404);
    server.put("/w");
    server.get("/w/a").expect("{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "COPY|/w|DELETE,GET,HEAD,POST",
        "POST|/w/_revs_limit|PUT,GET",
        "DELETE|/w/_security|PUT,GET",
        "GET|/w/_bulk_docs|POST",
        "GET|/w/_bulk_get|POST",
        "GET|/w/_revs_diff|POST",
        "GET|/w/_missing_revs|POST",
        "GET|/w/_ensure_full_commit|POST",
        "GET|/w/_compact|POST",
        "PUT|/w/_compact/d|POST",
        "GET|/w/_view_cleanup|POST",
        "POST|/w/_purged_infos|GET",
        "DELETE|/w/_purged_infos_limit|GET,PUT",
        "PUT|/w/_all_docs|GET,HEAD,POST",
        "PUT|/w/_all_docs/queries|POST",
        "PUT|/w/_changes|GET,POST,HEAD"
      })
  void a_wrong_method_is_405_with_those_allowed(String method, String target, String allow) {
    server.put("/w");
    Answer answer = server.request(method, target).send().expect(405);
    assertThat(answer.header("allow")).isEqualTo(allow);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/w",
        "/w/_bulk_docs",
        "/w/_bulk_get",
        "/w/_revs_diff",
        "/w/_missing_revs",
        "/w/_ensure_full_commit",
        "/w/_all_docs",
        "/w/_all_docs/queries",
        "/w/_compact",
        "/w/_compact/d",
        "/w/_changes",
        "/_dbs_info"
      })
  void post_wants_json(String target) {
    server.put("/w");

    for (String type : new String[] {"text/plain", "application/jsonx", "x;application/json"}) {
      server
          .request("POST", target, "Content-Type", type)
          .body(new byte[0])
          .send()
          .expect(
              415,
              "{\"error\":\"bad_content_type\",\"reason\":\"Content-Type must be"
                  + " application/json\"}\n");
    }
    server.request("POST", target).body(new byte[0]).send().expect(415);
  }

  @Test
  void revs_limit_is_kept_within_its_bounds() {
    server.put("/w");

    server.get("/w/_revs_limit").expect("1000\n");
    for (String good : new String[] {"1", "4000"}) {
      server.put("/w/_revs_limit", good).expect("{\"ok\":true}\n");
      server.get("/w/_revs_limit").expect(good + "\n");
    }
    for (String bad :
        new String[] {"0", "4001", "-1", "1.5", "\"7\"", "99999999999", "[]", "1 2"}) {
      assertThat(server.put("/w/_revs_limit", bad).status()).as(bad).isEqualTo(400);
    }
    server.get("/w/_revs_limit").expect("4000\n");
  }

  @Test
  void security_is_given_back_as_it_was_put() {
    server.put("/w");

    server
        .get("/w/_security")
        .expect("{\"members\":{\"roles\":[\"_admin\"]},\"admins\":{\"roles\":[\"_admin\"]}}\n");
    server.put("/w/_security", "{\"admins\":{\"names\":[\"ü\"]}}").expect("{\"ok\":true}\n");
    server.get("/w/_security").expect("{\"admins\":{\"names\":[\"ü\"]}}\n");
    server.put("/w/_security", "[]").expect(400);
  }

  @Test
  void security_has_a_longest() {
    server.put("/w");
    String longest = "{\"x\":\"" + "y".repeat(99_999 - 8) + "\"}";

    server.put("/w/_security", longest).expect(200);
    server.get("/w/_security").expect(longest + "\n");
    server
        .put("/w/_security", longest + " ")
        .expect(
            413,
            "{\"error\":\"too_large\",\"reason\":\"The security object takes 100000 bytes, the"
                + " limit is 99999.\"}\n");
  }

  @Test
  void ensure_full_commit_tells_when_the_database_began() {
    server.put("/w");
    String began = server.get("/w").member("instance_start_time");

    server
        .post("/w/_ensure_full_commit", "")
        .expect(201, "{\"ok\":true,\"instance_start_time\":\"" + began + "\"}\n");
  }

  @Test
  void a_database_is_partitioned_or_not() {
    Answer bad = server.put("/w?partitioned=tru").expect(400);
    assertThat(bad.member("reason")).isEqualTo("Invalid `partitioned` parameter");
    server.get("/w").expect(404);
    server.put("/w?partitioned=false").expect(201);
    assertThat(server.get("/w").body()).contains("\"props\":{\"layout\":");
    server.put("/p?partitioned=true").expect(201);
    assertThat(server.get("/p").body()).contains("\"props\":{\"partitioned\":true,\"layout\":");
    Answer system = server.put("/_replicator?partitioned=true").expect(400);
    assertThat(system.member("reason")).isEqualTo("Cannot partition a system database");
    server.put("/_replicator").expect(201);
  }

  /** Names that nothing can have: reserved ones, and those that are not UTF-8. */
  @Nested
  class UnusableNames {
    @BeforeEach
    void create() {
      server.put("/w");
      server.put("/w/_local/x", "{}");
      server.put("/w/%EF%BF%BD", "{}");
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        textBlock =
            """
            GET    | /%FF            | 404 | not_found     | Database does not exist.
            DELETE | /%FF            | 404 | not_found     | Database does not exist.
            GET    | /w%FF/a         | 404 | not_found     | Database does not exist.
            GET    | /w/%FF          | 404 | not_found     | missing
            GET    | /w/a%C0%80      | 404 | not_found     | missing
            GET    | /w/%ED%A0%80    | 404 | not_found     | missing
            DELETE | /w/%FF          | 404 | not_found     | missing
            PUT    | /w/%FF          | 400 | illegal_docid | Document id must be valid UTF-8
            PUT    | /w/_local/%FF   | 400 | illegal_docid | Document id must be valid UTF-8
            PUT    | /w/_design/%FF  | 400 | illegal_docid | Document id must be valid UTF-8
            PUT    | /w/%FF/a        | 400 | illegal_docid | Document id must be valid UTF-8
            DELETE | /w/%FF/a        | 404 | not_found     | missing
            PUT    | /w/_design/%FF/a| 400 | illegal_docid | Document id must be valid UTF-8
            PUT    | /w/a/%FF        | 400 | bad_request   | Attachment name is not UTF-8 encoded
            DELETE | /w/a/%FF        | 400 | bad_request   | Attachment name is not UTF-8 encoded
            PUT    | /w/a/b/%FF      | 400 | bad_request   | Attachment name is not UTF-8 encoded
            PUT    | /w/%FF/%FF      | 400 | bad_request   | Attachment name is not UTF-8 encoded
            PUT    | /w/_design/x/%FF| 400 | bad_request   | Attachment name is not UTF-8 encoded
            GET    | /w/a/%FF        | 404 | not_found     | missing
            PUT    | /w/_local/x/%FF | 400 | bad_request   | _local documents do not accept attachments.
            DELETE | /w/_local/x/%FF | 400 | bad_request   | _local documents do not accept attachments.
            PUT    | /nodb/a/%FF     | 404 | not_found     | Database does not exist.
            GET    | /w/_local%2F    | 400 | bad_request   | Invalid _local document id.
            PUT    | /w/_local%2F    | 400 | bad_request   | Invalid _local document id.
            GET    | /w/_local       | 400 | bad_request   | Invalid _local document id.
            GET    | /w/_local%2Fx/y | 404 | not_found     | missing
            PUT    | /w/_local%2Fx/y | 400 | bad_request   | _local documents do not accept attachments.
            GET    | /w/_nope        | 404 | not_found     | missing
            GET    | /w/_nope/x      | 404 | not_found     | missing
            GET    | /w/_nope/x/y    | 404 | not_found     | missing
            DELETE | /w/_nope/x      | 404 | not_found     | missing
            GET    | /w/_security/x  | 404 | not_found     | missing
            GET    | /w/_all_docs/x  | 404 | not_found     | missing
            GET    | /w/a?x=%FF      | 404 | not_found     | missing
            GET    | /w/a?rev=%FF    | 400 | bad_request   | The URL is not UTF-8.
            GET    | /nodb/_nope/x   | 404 | not_found     | Database does not exist.
            PUT    | /nodb/_nope/x   | 404 | not_found     | Database does not exist.
            """)
    void nothing_has_them(String method, String target, int status, String error, String reason) {
      Request request = server.request(method, target);
      Answer answer = method.equals("PUT") ? request.json("{}").send() : request.send();

      answer.expect(status, "{\"error\":\"" + error + "\",\"reason\":\"" + reason + "\"}\n");
    }

    @Test
    void a_head_finds_none_either() {
      Answer answer = server.head("/w/_nope/x").expect(404);
      assertThat(answer.body()).isEmpty();
    }

    @Test
    void reserved_names_are_not_written() {
      String reason = "Only reserved document ids may start with underscore.";
      assertThat(server.put("/w/_nope/x", "{}").member("reason")).isEqualTo(reason);
      assertThat(server.put("/w/_nope", "{}").member("reason")).isEqualTo(reason);
      assertThat(server.post("/w/_nope/x", "{}").header("allow")).isEqualTo("DELETE,GET,HEAD,PUT");
    }

    @Test
    void a_database_cannot_be_called_so() {
      Answer answer = server.put("/%FF").expect(400);
      assertThat(answer.member("error")).isEqualTo("illegal_database_name");
      assertThat(answer.member("reason")).startsWith("Name: '\ufffd'.");
    }

    /** Bytes that are not UTF-8 do not refer to the document that is called U+FFFD. */
    @Test
    void what_takes_the_place_of_bad_bytes_is_a_name_of_its_own() {
      server.get("/w/%EF%BF%BD").expect(200);
      server.get("/w/%FF").expect(404);
    }
  }

  /** The requests of administrators' maintenance scripts. */
  @Nested
  class Upkeep {
    @RegisterExtension static final LectusServer server = LectusServer.shared("/w");

    @ParameterizedTest
    @ValueSource(strings = {"_compact", "_compact/d", "_compact/d/x", "_view_cleanup"})
    void what_needs_no_doing_is_accepted(String what) {
      server.write("/w/_design/d", "{}");

      server.post("/w/" + what, "").expect(202, "{\"ok\":true}\n");
      server
          .post("/nodb/" + what, "{}")
          .expect(json("{'error':'not_found','reason':'Database does not exist.'}\n"));
    }

    @Test
    void indexes_are_compacted_of_design_documents_that_are_there() {
      String gone = server.write("/w/_design/gone", "{}");
      server.delete("/w/_design/gone?rev=" + gone);

      server
          .post("/w/_compact/nope", "")
          .expect(json("{'error':'not_found','reason':'missing'}\n"));
      server
          .post("/w/_compact/gone", "")
          .expect(json("{'error':'not_found','reason':'deleted'}\n"));
    }

    @Test
    void the_time_that_tombstones_are_kept_is_kept_as_written() {
      server.get("/w/_auto_purge").expect("{}\n");
      for (String good : new String[] {"30_days", "infinity", "1_s"}) {
        server
            .put("/w/_auto_purge", json("{'deleted_document_ttl':'%s'}").formatted(good))
            .expect(201, "{\"ok\":true}\n");
        assertThat(server.get("/w/_auto_purge").member("deleted_document_ttl")).isEqualTo(good);
      }
      for (String bad : new String[] {"\"5\"", "5", "null", "\"0_s\""}) {
        assertThat(
                server
                    .put("/w/_auto_purge", "{\"deleted_document_ttl\":" + bad + "}")
                    .member("reason"))
            .isEqualTo("deleted_document_ttl must be a valid string");
      }
      assertThat(server.put("/w/_auto_purge", "{\"x\":1}").member("reason"))
          .isEqualTo("invalid auto purge property");
      assertThat(server.get("/w/_auto_purge").member("deleted_document_ttl")).isEqualTo("1_s");
      server.put("/w/_auto_purge", "{}");
      server.get("/w/_auto_purge").expect("{}\n");
      server.get("/nodb/_auto_purge").expect(404);
      server.delete("/w/_auto_purge").expect(405);
    }

    /** curl says of what follows -d that it is a form. */
    @ParameterizedTest
    @CsvSource({
      "/w/_auto_purge,{'deleted_document_ttl':'1_s'},201",
      "/w/_feeds/f,{'channels':'c'},201",
      "/w/_security,{},200",
      "/w/_revs_limit,7,200",
      "/w/_purged_infos_limit,7,200"
    })
    void a_setting_of_a_database_needs_no_content_type(String target, String json, int status) {
      Answer answer =
          server
              .request("PUT", target, "Content-Type", "application/x-www-form-urlencoded")
              .body(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8))
              .send();
      assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    }

    @Test
    void nothing_was_purged() {
      server.get("/w/_purged_infos").expect("{\"purged_infos\":[]}\n");
      server.get("/nodb/_purged_infos").expect(404);
    }

    @Test
    void the_limit_of_purges_is_kept_beside_that_of_revisions() {
      server.get("/w/_purged_infos_limit").expect("1000\n");
      for (String good : new String[] {"1", "999999999999999999", "1000", "7"}) {
        server.put("/w/_purged_infos_limit", good).expect("{\"ok\":true}\n");
        server.get("/w/_purged_infos_limit").expect(good + "\n");
      }
      server.put("/w/_revs_limit", "5");
      server.get("/w/_purged_infos_limit").expect("7\n");
      server.put("/w/_purged_infos_limit", "8");
      server.get("/w/_revs_limit").expect("5\n");
      server.get("/nodb/_purged_infos_limit").expect(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "1.5", "\"5\"", "null", "{}", "1000000000000000000"})
    void the_limit_of_purges_is_a_positive_integer(String bad) {
      server
          .put("/w/_purged_infos_limit", bad)
          .expect(
              400,
              json(
                  "{'error':'bad_request','reason':'`purged_infos_limit` must be positive"
                      + " integer'}\n"));
      server.get("/w/_purged_infos_limit").expect("1000\n");
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        textBlock =
            """
            q=0                | The `q` value should be a positive integer.
            q=x                | The `q` value should be a positive integer.
            q=                 | The `q` value should be a positive integer.
            q=1.5              | The `q` value should be a positive integer.
            n=-1               | The `n` value should be a positive integer.
            placement=x        | The `placement` value should be in a format `zone:n`.
            placement=         | The `placement` value should be in a format `zone:n`.
            placement=a:0      | The `placement` value should be in a format `zone:n`.
            placement=a:1,b    | The `placement` value should be in a format `zone:n`.
            """)
    void how_a_database_is_to_be_spread_is_checked(String query, String reason) {
      server
          .put("/new?" + query)
          .expect(400, json("{'error':'bad_request','reason':'%s'}\n").formatted(reason));
      server.get("/new").expect(404);
    }

    @Test
    void how_a_database_is_to_be_spread_makes_no_difference() {
      server.put("/new?q=8&n=3&placement=a:1,b:2").expect(201);
      assertThat(server.get("/new").body()).contains("\"cluster\":{\"q\":1,\"n\":1,");
    }
  }

  /** What an older version stored in databases of the system can be read. */
  @Nested
  class OfTheSystem {
    private static final String JAN = "org.couchdb.user:jan";

    @RegisterExtension static final TestStores stores = SoundStore.stores();

    private StoreDatabases old;
    @AutoClose private LectusServer server;

    @BeforeEach
    void start() {
      Store store = stores.fresh();
      old = new StoreDatabases(store);
      old.create("_users");
      old.put("_users", JAN);
      server = LectusServer.start(store);
    }

    @Test
    void an_old_database_is_read_and_removed() {
      Answer jan = server.get("/_users/" + JAN).expect(200);
      assertThat(server.get("/_users/_all_docs").body()).contains(JAN);
      assertThat(server.post("/_users/_all_docs", "{}").body()).contains(JAN);
      server.post("/_users/_bulk_get", "{\"docs\":[{\"id\":\"" + JAN + "\"}]}").expect(200);
      server.post("/_users/_revs_diff", "{}").expect(200);
      assertThat(server.post("/_users/_changes", "{}").body()).contains(JAN);
      server.put("/_users/_local/checkpoint", "{}").expect(201);
      server.delete("/_users/" + JAN + "?rev=" + jan.member("_rev")).expect(200);
      server.delete("/_users").expect(200);
      server
          .get("/_users")
          .expect("{\"error\":\"not_found\",\"reason\":\"Database does not exist.\"}\n");
    }

    @Test
    void other_databases_are_not_touched_by_this() {
      for (String name : new String[] {"_global_changes", "my_users", "users", "replicator"}) {
        server.put("/" + name).expect(201);
        server.put("/" + name + "/_users", "{}").expect(400);
        server.put("/" + name + "/a", "{}").expect(201);
      }
    }
  }
}
