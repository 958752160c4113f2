package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.database.DatabaseName;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
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
}
