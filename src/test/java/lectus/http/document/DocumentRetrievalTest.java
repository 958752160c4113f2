package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** GET and HEAD of documents. */
final class DocumentRetrievalTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  @BeforeEach
  void create() {
    server.put("/w");
  }

  @Test
  void a_document_comes_with_its_tag() {
    String rev = server.write("/w/a", "{\"v\":1}");
    Answer read = server.get("/w/a");

    assertThat(read.status()).isEqualTo(200);
    assertThat(read.body()).isEqualTo("{\"_id\":\"a\",\"_rev\":\"" + rev + "\",\"v\":1}\n");
    assertThat(read.header("etag")).isEqualTo("\"" + rev + "\"");
    assertThat(read.isChunked()).isFalse();
    Answer head = server.head("/w/a");
    assertThat(head.header("content-length")).isEqualTo(read.header("content-length"));
    assertThat(head.header("etag")).isEqualTo(read.header("etag"));
  }

  @Test
  void missing_and_deleted_are_told_apart() {
    String rev = server.write("/w/g", "{}");
    server.delete("/w/g?rev=" + rev);

    Answer missing = server.get("/w/never");
    assertThat(missing.status()).isEqualTo(404);
    assertThat(missing.body()).isEqualTo("{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
    for (String query : new String[] {"", "?revs_info=true"}) {
      assertThat(server.get("/w/g" + query).body())
          .isEqualTo("{\"error\":\"not_found\",\"reason\":\"deleted\"}\n");
    }
    assertThat(server.head("/w/g").status()).isEqualTo(404);
    assertThat(server.get("/w/_unknown").status()).isEqualTo(404);
  }

  @Test
  void if_none_match_saves_the_body() {
    String rev = server.write("/w/a", "{}");

    for (String seen :
        new String[] {"\"" + rev + "\"", "\"1-x\", \"" + rev + "\"", "W/\"" + rev + "\""}) {
      Answer same = ifNoneMatch(seen).send();
      assertThat(same.status()).as(seen).isEqualTo(304);
      assertThat(same.header("etag")).isEqualTo("\"" + rev + "\"");
      assertThat(same.header("content-length")).isEqualTo("0");
    }
    assertThat(ifNoneMatch("\"1-x\"").send().status()).isEqualTo(200);
    assertThat(ifNoneMatch("*").send().status()).isEqualTo(200);
  }

  /** The second time the document is in memory and the event loop answers by itself. */
  @Test
  void what_is_in_memory_is_answered_like_what_is_read() {
    String rev = server.write("/w/a", "{\"v\":1}");
    Answer read = server.get("/w/a");
    Answer hot = server.get("/w/a");
    assertThat(hot.status()).isEqualTo(200);
    assertThat(hot.body()).isEqualTo(read.body());
    assertThat(hot.headers().keySet()).isEqualTo(read.headers().keySet());
    assertThat(hot.header("etag")).isEqualTo(read.header("etag"));
    assertThat(server.head("/w/a").header("content-length"))
        .isEqualTo(read.header("content-length"));

    String second = server.write("/w/a?rev=" + rev, "{\"v\":2}");
    assertThat(server.get("/w/a").member("_rev")).isEqualTo(second);
    assertThat(server.get("/w/a").body()).contains("\"v\":2");
    server.delete("/w/a?rev=" + second);
    assertThat(server.get("/w/a").status()).isEqualTo(404);
    assertThat(server.get("/w/a").member("reason")).isEqualTo("deleted");
    server.delete("/w");
    assertThat(server.get("/w/a").status()).isEqualTo(404);
    server.put("/w");
    assertThat(server.get("/w/a").member("reason")).isEqualTo("missing");
  }

  private Request ifNoneMatch(String tags) {
    return server.request("GET", "/w/a").header("If-None-Match", tags);
  }

  @Test
  void history_is_added_on_demand() {
    String one = server.write("/w/a", "{}");
    String two = server.write("/w/a?rev=" + one, "{\"v\":2}");
    String start = "{\"_id\":\"a\",\"_rev\":\"" + two + "\",\"v\":2,";

    Answer revs = server.get("/w/a?revs=true");
    assertThat(revs.body())
        .isEqualTo(
            start
                + "\"_revisions\":{\"start\":2,\"ids\":[\""
                + two.substring(2)
                + "\",\""
                + one.substring(2)
                + "\"]}}\n");
    assertThat(revs.header("etag")).isEqualTo("\"" + two + "\"");
    Answer infos = server.get("/w/a?revs_info=true");
    assertThat(infos.body())
        .isEqualTo(
            start
                + "\"_revs_info\":[{\"rev\":\""
                + two
                + "\",\"status\":\"available\"},{\"rev\":\""
                + one
                + "\",\"status\":\"missing\"}]}\n");
    assertThat(infos.headers()).doesNotContainKey("etag");
    assertThat(server.get("/w/a?revs=maybe").body()).doesNotContain("_revisions");
    assertThat(server.get("/w/a?local_seq=true").body()).contains("\"_local_seq\":");
  }

  @Test
  void conflicts_are_listed_highest_first() {
    replicated("{\"_rev\":\"2-b\"}");
    assertThat(server.get("/w/c?conflicts=true").body()).doesNotContain("_conflicts");
    replicated("{\"_rev\":\"2-a\"}");
    replicated("{\"_rev\":\"1-z\"}");
    replicated("{\"_rev\":\"4-d\",\"_deleted\":true}");

    Answer conflicts = server.get("/w/c?conflicts=true");
    assertThat(conflicts.body()).contains("\"_conflicts\":[\"2-a\",\"1-z\"]");
    assertThat(conflicts.headers()).doesNotContainKey("etag");
    assertThat(server.get("/w/c?deleted_conflicts=true").body())
        .contains("\"_deleted_conflicts\":[\"4-d\"]");
    assertThat(server.get("/w/c?meta=true").body())
        .matches(".*\"_revs_info\":.*\"_conflicts\":.*\"_deleted_conflicts\":.*\n");
    assertThat(server.get("/w/c?rev=2-a&meta=true").body())
        .isEqualTo("{\"_id\":\"c\",\"_rev\":\"2-a\"}\n");
  }

  @Test
  void a_revision_can_be_asked_for() {
    String one = server.write("/w/a", "{\"v\":1}");
    String two = server.write("/w/a?rev=" + one, "{\"v\":2}");

    assertThat(server.get("/w/a?rev=" + two).body()).contains("\"v\":2");
    assertThat(server.get("/w/a?rev=" + one).status()).isEqualTo(404);
    assertThat(server.get("/w/a?rev=" + one + "&latest=true").body()).contains("\"v\":2");
    Answer bad = server.get("/w/a?rev=x");
    assertThat(bad.status()).isEqualTo(400);
    assertThat(bad.body())
        .isEqualTo("{\"error\":\"bad_request\",\"reason\":\"Invalid rev format\"}\n");
  }

  @Test
  void open_revisions_come_as_an_array() {
    replicated("{\"_rev\":\"2-b\",\"v\":2}");
    replicated("{\"_rev\":\"1-a\",\"_deleted\":true}");

    Answer all = asJson("/w/c?open_revs=all");
    assertThat(all.isChunked()).isTrue();
    assertThat(all.header("content-type")).isEqualTo("application/json");
    assertThat(all.body())
        .isEqualTo(
            "[{\"ok\":{\"_id\":\"c\",\"_rev\":\"1-a\",\"_deleted\":true}},"
                + "{\"ok\":{\"_id\":\"c\",\"_rev\":\"2-b\",\"v\":2}}]\n");
    assertThat(asJson("/w/c?open_revs=[%222-b%22,%229-abc%22]").body())
        .isEqualTo("[{\"ok\":{\"_id\":\"c\",\"_rev\":\"2-b\",\"v\":2}},{\"missing\":\"9-abc\"}]\n");
    assertThat(server.get("/w/c?open_revs=[]").body()).startsWith("{\"_id\":\"c\"");
    assertThat(server.get("/w/never?open_revs=all").status()).isEqualTo(404);
    assertThat(server.get("/w/c?open_revs=x").status()).isEqualTo(400);
  }

  @Test
  void attachments_are_among_the_fields_where_they_are_named() {
    String rev = server.write("/w/a", "{\"v\":1,\"_attachments\":{\"x\":{\"data\":\"YQ==\"}}}");
    assertThat(server.get("/w/a?fields=[%22_attachments%22]").body())
        .startsWith("{\"_id\":\"a\",\"_rev\":\"" + rev + "\",\"_attachments\":{\"x\":{")
        .contains("\"stub\":true")
        .doesNotContain("\"v\"");
    assertThat(server.get("/w/a?fields=[%22_attachments.x.length%22]").body())
        .endsWith(",\"_attachments\":{\"x\":{\"length\":1}}}\n");
    assertThat(server.get("/w/a?fields=[%22v%22]").body()).endsWith(",\"v\":1}\n");
  }

  @Test
  void fields_are_read_alone() {
    server.write("/w/a", "{\"a\":{\"b\":1,\"x\":2},\"c\":[3],\"d\":4}");

    assertThat(server.get("/w/a?fields=[%22a.b%22,%22c%22]").body())
        .contains("\"a\":{\"b\":1}")
        .contains("\"c\":[3]")
        .doesNotContain("\"d\"");
    for (String bad : List.of("7", "a", "[1]", "[%22a%22")) {
      Answer refused = server.get("/w/a?fields=" + bad);
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.member("reason")).isEqualTo("`fields` must be an array of strings.");
    }
  }

  private Answer asJson(String target) {
    return server.request("GET", target).header("Accept", "application/json").send();
  }

  private void replicated(String json) {
    server.write("/w/c?new_edits=false", json);
  }

  /** Each of these is one document, whatever a URL library would make of it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        ".",
        "..",
        "%2E",
        "%2e%2E",
        "a%2Fb",
        "%2Fa",
        "a%2F",
        "a%252Fb",
        "a+b",
        "a%2Bb",
        "%25",
        "a;b",
        "a=b",
        "%00",
        "%F0%9F%98%80",
        "%C3%BC",
        "a%3Fb",
        "%23",
        "a:b@c",
        "~%7E"
      })
  void odd_names_are_names(String encoded) {
    String rev = server.write("/w/" + encoded, "{\"v\":1}");

    assertThat(server.get("/w/" + encoded).header("etag")).isEqualTo("\"" + rev + "\"");
    assertThat(server.get("//w//" + encoded).header("etag")).isEqualTo("\"" + rev + "\"");
    assertThat(server.get("/w").body()).contains("\"doc_count\":1");
    assertThat(server.delete("/w/" + encoded + "?rev=" + rev).status()).isEqualTo(200);
    assertThat(server.get("/w").status()).as("the database is still there").isEqualTo(200);
  }

  @Test
  void names_are_decoded_once() {
    server.write("/w/a%20b", "{\"v\":1}");
    server.write("/w/a%2Bb", "{\"v\":2}");
    server.write("/w/a%252Fb", "{\"v\":3}");
    server.write("/w/.", "{\"v\":4}");

    assertThat(server.get("/w/a+b").body()).startsWith("{\"_id\":\"a b\"");
    assertThat(server.get("/w/a%2bb").body()).startsWith("{\"_id\":\"a+b\"");
    assertThat(server.get("/w/a%252Fb").body()).startsWith("{\"_id\":\"a%2Fb\"");
    assertThat(server.get("/w/%2E").body()).startsWith("{\"_id\":\".\"");
    assertThat(server.get("/w/_design%2Fdd").status()).isEqualTo(404);
  }

  @Test
  void design_documents_have_two_spellings() {
    String rev = server.write("/w/_design/dd", "{\"language\":\"x\"}");

    assertThat(server.get("/w/_design%2Fdd").header("etag")).isEqualTo("\"" + rev + "\"");
    assertThat(server.get("/w/_design/dd").body()).startsWith("{\"_id\":\"_design/dd\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"%", "%4", "%4g", "%GG"})
  void urls_that_are_not_percent_encoded_are_400(String name) {
    for (String target : new String[] {"/w/" + name, "/w?x=" + name, "/w/a?rev=" + name}) {
      Answer answer = server.get(target);
      assertThat(answer.status()).isEqualTo(400);
      assertThat(answer.body())
          .isEqualTo("{\"error\":\"bad_request\",\"reason\":\"invalid_url_encoding\"}\n");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"%FF", "%C3", "%ED%A0%80", "a%C0%80"})
  void parameters_that_are_no_utf8_are_400_where_they_are_read(String value) {
    assertThat(server.get("/w?x=" + value).status()).as("nobody asks for x").isEqualTo(200);
    assertThat(server.get("/w/a?rev=" + value).status()).isEqualTo(400);
  }
}
