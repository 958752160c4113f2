package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code open_revs} and {@code _bulk_get} in parts, byte for byte as CouchDB 3.5.2 sends them. */
final class MultipartAnswersTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  private static final Pattern BOUNDARY = Pattern.compile("(multipart/\\w+); boundary=\"(.*)\"");
  private static final int LARGE_LEAVES = 120;

  @BeforeEach
  void create() {
    server.put("/w");
    replicate(
        "{\"_id\":\"a\",\"_rev\":\"4-b\",\"_revisions\":{\"start\":4,\"ids\":"
            + "[\"b\",\"b3\",\"b2\",\"x\"]},\"v\":2}");
    replicate(
        "{\"_id\":\"a\",\"_rev\":\"3-a\",\"_revisions\":{\"start\":3,\"ids\":"
            + "[\"a\",\"a2\",\"x\"]},\"v\":1}");
    replicate("{\"_id\":\"a\",\"_rev\":\"9-t\",\"_deleted\":true}");
  }

  private void replicate(String... docs) {
    String json = "{\"new_edits\":false,\"docs\":[" + String.join(",", docs) + "]}";
    server.post("/w/_bulk_docs", json).expect("[]\n");
  }

  private Request openRevisions(String query, Optional<String> accept) {
    Request request = server.request("GET", "/w/" + query);
    accept.ifPresent(types -> request.header("Accept", types));
    return request;
  }

  private Answer mixed(String query) {
    return openRevisions(query, Optional.of("multipart/mixed")).send();
  }

  private Answer bulkGet(String query, String accept, String docs) {
    return server
        .request("POST", "/w/_bulk_get" + query, "Accept", accept)
        .json("{\"docs\":" + docs + "}")
        .send();
  }

  /** Returns the body with B in place of the boundary, which the Content-Type has to name. */
  private static String parts(Answer answer, String mediaType, String boundary) {
    Matcher matcher = BOUNDARY.matcher(answer.header("content-type"));
    assertThat(matcher.matches()).as(answer.header("content-type")).isTrue();
    assertThat(matcher.group(1)).isEqualTo(mediaType);
    assertThat(matcher.group(2)).matches(boundary);
    return answer.body().replace(matcher.group(2), "B");
  }

  private static String parts(Answer answer) {
    return parts(answer, "multipart/mixed", "[0-9a-f]{32}");
  }

  /** Accept headers of clients: none, curl, CouchDB's replicator, PouchDB, browsers. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "                             | multipart/mixed  | application/json",
        "*/*                          | multipart/mixed  | application/json",
        "multipart/mixed              | multipart/mixed  | multipart/mixed",
        "application/json             | application/json | application/json",
        "application/json, */*;q=0.1  | multipart/mixed  | application/json",
        "application/json, text/plain | application/json | application/json",
        "application/json, text/plain, */* | multipart/mixed | application/json",
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8 | multipart/mixed |"
            + " application/json",
        "text/html                    | application/json | application/json",
        "multipart/related            | application/json | multipart/related",
        "multipart/related, multipart/mixed | multipart/mixed | multipart/mixed",
        "multipart/*                  | multipart/mixed  | multipart/mixed",
        "multipart/mixed;q=0, */*     | application/json | application/json",
        "text/html, *; q=.2           | multipart/mixed  | application/json",
      })
  void accept_decides(String accept, String openRevisions, String bulkGet) {
    Answer open = openRevisions("a?open_revs=all", Optional.ofNullable(accept)).send().expect(200);
    assertThat(open.header("content-type")).startsWith(openRevisions);

    Request request = server.request("POST", "/w/_bulk_get");
    Optional.ofNullable(accept).ifPresent(types -> request.header("Accept", types));
    Answer bulk = request.json("{\"docs\":[{\"id\":\"a\"}]}").send().expect(200);
    assertThat(bulk.header("content-type")).startsWith(bulkGet);
  }

  @Test
  void open_revisions_are_parts() {
    Answer all = mixed("a?open_revs=all");

    assertThat(all.isChunked()).isTrue();
    assertThat(parts(all))
        .isEqualTo(
            "--B\r\nContent-Type: application/json\r\n\r\n{\"_id\":\"a\",\"_rev\":\"3-a\",\"v\":1}"
                + "\r\n--B\r\nContent-Type: application/json\r\n\r\n"
                + "{\"_id\":\"a\",\"_rev\":\"4-b\",\"v\":2}"
                + "\r\n--B\r\nContent-Type: application/json\r\n\r\n"
                + "{\"_id\":\"a\",\"_rev\":\"9-t\",\"_deleted\":true}\r\n--B--");
  }

  @Test
  void missing_revisions_are_parts_of_their_own() {
    assertThat(parts(mixed("a?open_revs=[%229-abc%22,%223-a%22]&revs=true")))
        .isEqualTo(
            "--B\r\nContent-Type: application/json\r\n\r\n{\"_id\":\"a\",\"_rev\":\"3-a\",\"v\":1,"
                + "\"_revisions\":{\"start\":3,\"ids\":[\"a\",\"a2\",\"x\"]}}"
                + "\r\n--B\r\nContent-Type: application/json; error=\"true\"\r\n\r\n"
                + "{\"missing\":\"9-abc\"}\r\n--B--");
    assertThat(parts(mixed("never?open_revs=[%221-x%22]")))
        .isEqualTo(
            "--B\r\nContent-Type: application/json; error=\"true\"\r\n\r\n"
                + "{\"missing\":\"1-x\"}\r\n--B--");
  }

  @Test
  void what_is_no_list_of_revisions_is_json() {
    mixed("never?open_revs=all").expect(404, "{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
    assertThat(mixed("a?open_revs=[]").body())
        .isEqualTo("{\"_id\":\"a\",\"_rev\":\"4-b\",\"v\":2}\n");
    mixed("a?open_revs=x").expect(400);
  }

  @Test
  void a_document_without_attachments_is_json_whatever_is_accepted() {
    for (String accept : new String[] {"multipart/related", "multipart/mixed", "multipart/*"}) {
      Answer answer = openRevisions("a?attachments=true", Optional.of(accept)).send();
      assertThat(answer.header("content-type")).isEqualTo("application/json");
      answer.expect("{\"_id\":\"a\",\"_rev\":\"4-b\",\"v\":2}\n");
    }
  }

  @Test
  void head_has_the_type_of_get() {
    Answer head = server.head("/w/a?open_revs=all").expect(200);
    assertThat(head.header("content-type")).matches(BOUNDARY);
    assertThat(head.header("content-length")).isNull();
    server.head("/w/never?open_revs=all").expect(404);
  }

  @Test
  void results_of_bulk_get_are_parts() {
    String docs =
        "[{\"id\":\"a\",\"rev\":\"4-b\"},{\"id\":\"a\",\"rev\":\"9-abc\"},{\"id\":\"none\"},"
            + "{\"id\":\"none\",\"rev\":\"1-x\"},{\"id\":\"_x\"},{\"id\":\"a\",\"rev\":\"x\"},5]";
    String error = "\r\n--B\r\nContent-Type: application/json; error=\"true\"\r\n\r\n";

    assertThat(
            parts(
                bulkGet("?revs=true", "multipart/mixed", docs),
                "multipart/mixed",
                "--[0-9a-f]{32}"))
        .isEqualTo(
            "\r\n--B\r\nContent-Type: application/json\r\n\r\n"
                + "{\"_id\":\"a\",\"_rev\":\"4-b\",\"v\":2,"
                + "\"_revisions\":{\"start\":4,\"ids\":[\"b\",\"b3\",\"b2\",\"x\"]}}"
                + error
                + "{\"rev\":\"9-abc\",\"error\":\"not_found\",\"reason\":\"missing\"}"
                + error
                + "{\"rev\":\"undefined\",\"reason\":\"missing\",\"id\":\"none\",\"error\":\"not_found\"}"
                + error
                + "{\"rev\":\"1-x\",\"error\":\"not_found\",\"reason\":\"missing\"}"
                + error
                + "{\"rev\":null,\"reason\":\"Only reserved document ids may start with"
                + " underscore.\",\"id\":\"_x\",\"error\":\"illegal_docid\"}"
                + error
                + "{\"rev\":\"x\",\"reason\":\"Invalid rev"
                + " format\",\"id\":\"a\",\"error\":\"bad_request\"}"
                + error
                + "{\"rev\":null,\"reason\":\"document must be a JSON object\",\"id\":null,"
                + "\"error\":\"bad_request\"}"
                + "\r\n--B--\r\n");
  }

  @Test
  void all_leaves_of_a_document_are_a_part_each() {
    String body =
        parts(
            bulkGet("", "multipart/related", "[{\"id\":\"a\"}]"),
            "multipart/related",
            "--[0-9a-f]{32}");

    assertThat(body.split("\r\n--B\r\nContent-Type: application/json\r\n\r\n"))
        .containsExactly(
            "",
            "{\"_id\":\"a\",\"_rev\":\"4-b\",\"v\":2}",
            "{\"_id\":\"a\",\"_rev\":\"3-a\",\"v\":1}",
            "{\"_id\":\"a\",\"_rev\":\"9-t\",\"_deleted\":true}\r\n--B--\r\n");
  }

  @Test
  void bulk_get_of_nothing_has_no_body() {
    Answer answer = bulkGet("", "multipart/mixed", "[]").expect(200);
    assertThat(parts(answer, "multipart/mixed", "--[0-9a-f]{32}")).isEmpty();
  }

  @Test
  void bulk_get_refuses_what_its_elements_have() {
    for (String name : new String[] {"rev", "open_revs", "new_edits", "w", "atts_since"}) {
      Answer answer = bulkGet("?" + name + "=1-x", "application/json", "[]").expect(400);
      assertThat(answer.body())
          .contains("\"\\\"" + name + "\\\" query parameter is not acceptable\"");
    }
    assertThat(bulkGet("", "multipart/mixed", "{}").body()).contains("\"bad_request\"");
  }

  /** Writes some ten megabytes: more than is read in one transaction or held for a client. */
  private void writeLargeLeaves() {
    for (int i = 0; i < LARGE_LEAVES; i++) {
      replicate("{\"_id\":\"l\",\"_rev\":\"1-%03d\",\"v\":\"%s\"}".formatted(i, large(i)));
    }
  }

  private static String large(int leaf) {
    return String.valueOf(leaf % 10).repeat(80_000);
  }

  @Test
  void many_large_parts_come_whole() {
    writeLargeLeaves();

    Answer open = mixed("l?open_revs=all");
    assertThat(parts(open)).startsWith("--B\r\n").endsWith("\r\n--B--");
    assertLargeLeaves(open);
    Answer bulk = bulkGet("", "multipart/related", "[{\"id\":\"l\"}]");
    assertThat(bulk.body()).endsWith("--\r\n");
    assertLargeLeaves(bulk);
  }

  private static void assertLargeLeaves(Answer answer) {
    Matcher matcher = BOUNDARY.matcher(answer.header("content-type"));
    assertThat(matcher.matches()).isTrue();
    String[] parts = answer.body().split(Pattern.quote("--" + matcher.group(2) + "\r\n"), -1);
    assertThat(parts).hasSize(LARGE_LEAVES + 1);
    for (int i = 0; i < LARGE_LEAVES; i++) {
      String rev = "\"_rev\":\"1-%03d\"".formatted(i);
      String document = ",\"v\":\"" + large(i) + "\"}";
      assertThat(parts).anyMatch(part -> part.contains(rev + document));
    }
  }

  /** An answer that was cut must not look whole: neither the chunks nor the parts end. */
  @Test
  void a_failure_half_way_resets_the_connection() {
    writeLargeLeaves();
    Request request = openRevisions("l?open_revs=all", Optional.of("multipart/mixed"));
    try (Connection slow = new Connection(server.port(), 16 << 10).write(request.bytes())) {
      slow.readHead().expect(200);
      server.delete("/w");

      String rest = slow.readToEnd();
      assertThat(rest.length()).isLessThan(LARGE_LEAVES * 80_000);
      assertThat(rest).doesNotContain("--\r\n0\r\n").contains(large(0));
    }
  }

  @Test
  void a_slow_client_gets_all_of_it() {
    writeLargeLeaves();
    Request request = openRevisions("l?open_revs=all", Optional.of("multipart/mixed"));
    try (Connection slow = new Connection(server.port(), 16 << 10).write(request.bytes())) {
      slow.readHead().expect(200);
      server.get("/w").expect(200);

      long bytes = 0;
      String last = "";
      for (byte[] chunk = slow.chunk(); chunk.length > 0; chunk = slow.chunk()) {
        bytes += chunk.length;
        last = new String(chunk, StandardCharsets.UTF_8);
      }
      assertThat(bytes).isGreaterThan((long) LARGE_LEAVES * 80_000);
      assertThat(last).endsWith("--");
    }
  }
}
