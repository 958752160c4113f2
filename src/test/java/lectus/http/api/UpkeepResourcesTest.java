package lectus.http.api;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The requests of administrators' maintenance scripts. */
final class UpkeepResourcesTest {
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

    server.post("/w/_compact/nope", "").expect(json("{'error':'not_found','reason':'missing'}\n"));
    server.post("/w/_compact/gone", "").expect(json("{'error':'not_found','reason':'deleted'}\n"));
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
