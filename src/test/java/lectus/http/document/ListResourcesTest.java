package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code _all_docs} and similar lists, and {@code _local} documents. */
final class ListResourcesTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared("/w");

  private static String row(String id, String rev) {
    return "{\"id\":\"" + id + "\",\"key\":\"" + id + "\",\"value\":{\"rev\":\"" + rev + "\"}}";
  }

  @Test
  void a_list_has_one_row_a_line() {
    String b = server.write("/w/b", "{\"v\":2}");
    String a = server.write("/w/a", "{\"v\":1}");

    Answer all = server.get("/w/_all_docs").expect(200);
    assertThat(all.isChunked()).isTrue();
    assertThat(all.header("content-type")).isEqualTo("application/json");
    all.expect(
        "{\"total_rows\":2,\"offset\":0,\"rows\":[\r\n"
            + row("a", a)
            + ",\r\n"
            + row("b", b)
            + "\r\n]}\n");
    assertThat(server.get("/w/_all_docs?descending=true&limit=1").body())
        .contains(row("b", b))
        .doesNotContain(row("a", a));
    assertThat(server.get("/w/_all_docs?key=%22b%22&include_docs=true").body())
        .contains("\"doc\":{\"_id\":\"b\",\"_rev\":\"" + b + "\",\"v\":2}}");
    assertThat(server.head("/w/_all_docs").header("content-length")).isNull();
    server.head("/w/_all_docs").expect(200);
  }

  @Test
  void keys_come_in_their_order() {
    String a = server.write("/w/a", "{}");
    String gone = server.write("/w/e", "{}");
    String tombstone = server.delete("/w/e?rev=" + gone).member("rev");

    server
        .post("/w/_all_docs", "{\"keys\":[\"e\",\"none\",\"a\",5]}")
        .expect(
            "{\"total_rows\":1,\"offset\":null,\"rows\":[\r\n"
                + "{\"id\":\"e\",\"key\":\"e\",\"value\":{\"rev\":\""
                + tombstone
                + "\",\"deleted\":true}},\r\n"
                + "{\"key\":\"none\",\"error\":\"not_found\"},\r\n"
                + row("a", a)
                + ",\r\n"
                + "{\"key\":5,\"error\":\"not_found\"}\r\n]}\n");
  }

  @Test
  void an_empty_range_is_an_empty_line() {
    server.get("/w/_all_docs").expect("{\"total_rows\":0,\"offset\":0,\"rows\":[\r\n\r\n]}\n");
  }

  @Test
  void several_questions_are_answered_in_one() {
    String a = server.write("/w/a", "{}");

    Answer answers =
        server
            .post("/w/_all_docs/queries", "{\"queries\":[{\"key\":\"a\"},{\"limit\":0}]}")
            .expect(200);
    assertThat(answers.body()).startsWith("{\"results\":[").contains(row("a", a)).endsWith("]}\n");
    server.post("/w/_all_docs/queries", "{}").expect(400);
  }

  @Test
  void design_and_local_documents_have_lists_of_their_own() {
    String design = server.write("/w/_design/d", "{}");
    server.write("/w/a", "{}");
    server.put("/w/_local/ck", "{}");

    assertThat(server.get("/w/_design_docs").body())
        .contains(row("_design/d", design))
        .doesNotContain("\"a\"");
    server
        .get("/w/_local_docs")
        .expect(
            "{\"total_rows\":null,\"offset\":null,\"rows\":[\r\n"
                + row("_local/ck", "0-1")
                + "\r\n]}\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"include_docs=maybe", "limit=x", "skip=-1", "descending=1"})
  void an_unparsable_parameter_is_400(String query) {
    Answer answer = server.get("/w/_all_docs?" + query).expect(400);
    assertThat(answer.member("error")).isEqualTo("query_parse_error");
  }

  @Test
  void unknown_parameters_are_ignored_and_bad_json_is_400() {
    server.get("/w/_all_docs?foo=maybe").expect(200);
    server.get("/w/_all_docs?startkey=x").expect(400);
    server.post("/w/_all_docs", "{\"keys\":7}").expect(400);
  }

  /** So many rows that they come in several parts, each read in a transaction of its own. */
  @Test
  void a_long_list_is_whole() {
    StringBuilder docs = new StringBuilder("{\"docs\":[{}");
    docs.append(",{}".repeat(9_999)).append("]}");
    server.post("/w/_bulk_docs", docs.toString()).expect(201);

    Answer all = server.get("/w/_all_docs");
    assertThat(all.body().lines().filter(line -> line.startsWith("{\"id\":"))).hasSize(10_000);
    assertThat(all.body()).endsWith("}}\r\n]}\n");
    Answer changes = server.get("/w/_changes?include_docs=true");
    assertThat(changes.body().lines().filter(line -> line.startsWith("{\"seq\":"))).hasSize(10_000);
    assertThat(changes.body()).endsWith("\"pending\":0}\n");
  }

  @Test
  void local_documents_count_their_writes() {
    Answer one = server.put("/w/_local/ck", "{\"v\":1}");
    Answer two = server.put("/w/_local/ck", "{\"v\":2,\"_rev\":\"0-1\"}");

    one.expect(201, "{\"ok\":true,\"id\":\"_local/ck\",\"rev\":\"0-1\"}\n");
    assertThat(two.member("rev")).isEqualTo("0-2");
    Answer read =
        server.get("/w/_local/ck").expect("{\"_id\":\"_local/ck\",\"_rev\":\"0-2\",\"v\":2}\n");
    assertThat(read.header("etag")).matches("\"[0-9A-Z]{23,25}\"");
    server.request("GET", "/w/_local/ck", "If-None-Match", read.header("etag")).send().expect(304);
    server.get("/w/_local%2Fck").expect(read.body());
    server.head("/w/_local/ck").expect(200);
  }

  @Test
  void local_documents_are_deleted_without_a_trace() {
    server.put("/w/_local/ck", "{}");

    Answer deleted = server.delete("/w/_local/ck?rev=0-1").expect(200);
    assertThat(deleted.member("rev")).isEqualTo("0-0");
    server.get("/w/_local/ck").expect("{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
    server.delete("/w/_local/ck").expect(404);
  }

  @Test
  void local_documents_have_a_name_and_no_attachments() {
    server
        .get("/w/_local")
        .expect("{\"error\":\"bad_request\",\"reason\":\"Invalid _local document id.\"}\n");
    server
        .get("/w/_local/a/b")
        .expect(
            "{\"error\":\"bad_request\",\"reason\":\"_local documents do not accept"
                + " attachments.\"}\n");
    server.put("/w/_local/a", "[]").expect(400);
  }
}
