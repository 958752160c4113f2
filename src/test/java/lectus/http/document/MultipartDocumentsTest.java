package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.testing.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** PUT of documents as {@code multipart/related}. */
final class MultipartDocumentsTest {
  private static final int MAX_HELD_BYTES = 400_000;
  private static final int MAX_REQUEST_BYTES = 5_000_000;

  /** Enough for two large bodies and what passes through of each, but not for three. */
  private static final int BODY_MEMORY = 750_000;

  private static final int LARGE_BYTES = 300_000;

  @RegisterExtension
  static final LectusServer server =
      LectusServer.shared(
          new TestSettings()
              .maxRequestBytes(MAX_REQUEST_BYTES)
              .maxHeldBytes(MAX_HELD_BYTES)
              .bodyMemoryBytes(BODY_MEMORY)
              .requestSeconds(4),
          "/w");

  private static byte[] alone(String json) {
    return utf8("--b\r\nContent-Type: application/json\r\n\r\n" + json + "\r\n--b--");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private Request put(String target, byte[] body) {
    return server
        .request("PUT", target, "Content-Type", "multipart/related; boundary=\"b\"")
        .body(body);
  }

  @Test
  void a_document_that_comes_alone_is_taken() {
    Answer written = put("/w/a", alone("{\"v\":1}")).send().expect(201);
    assertThat(written.header("etag")).isEqualTo('"' + written.member("rev") + '"');
    assertThat(written.header("location")).endsWith("/w/a");
    server
        .get("/w/a")
        .expect("{\"_id\":\"a\",\"_rev\":\"" + written.member("rev") + "\",\"v\":1}\n");
    put("/w/a", alone("{\"v\":2}")).send().expect(409);
    put("/w/a?rev=" + written.member("rev"), alone("{\"v\":2}")).send().expect(201);
  }

  @Test
  void a_replicated_a_design_and_a_local_document_are_taken_alike() {
    String replicated =
        "{\"_id\":\"_design/d\",\"_rev\":\"3-q\",\"_attachments\":{},\"_revisions\":"
            + "{\"start\":3,\"ids\":[\"q\",\"p\",\"o\"]}}";
    put("/w/_design/d?new_edits=false", alone(replicated)).send().expect(201);
    assertThat(server.get("/w/_design/d?revs=true").body())
        .contains("\"_rev\":\"3-q\"", "\"ids\":[\"q\",\"p\",\"o\"]");

    assertThat(put("/w/_local/l", alone("{\"v\":1}")).send().member("rev")).isEqualTo("0-1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'--b\r\n"
            + "Content-Type: application/json\r\n\r\n"
            + "{\"_attachments\":{\"x\":{\"follows\":true,\"length\":2}}}\r\n"
            + "--b\r\n\r\n"
            + "x\r\n"
            + "--b--'|400|bad_request",
        "'--b\r\n"
            + "Content-Type: application/json\r\n\r\n"
            + "{\"_attachments\":{\"x\":{\"follows\":true,\"length\":1}}}\r\n"
            + "--b--'|400|bad_request",
        "'--b\r\n"
            + "Content-Type: application/json\r\n\r\n"
            + "{}\r\n"
            + "--b\r\n\r\n"
            + "x\r\n"
            + "--b--'|400|bad_request",
        "'--b\r\nContent-Type: text/plain\r\n\r\n{}\r\n--b--'|415|bad_content_type",
        "'--b\r\n\r\n{}\r\n--b--'|415|bad_content_type",
        "'--b\r\nContent-Type: application/json\r\n\r\n{\r\n--b--'|400|bad_request",
        "'--b\r\nContent-Type: application/json\r\n\r\n[]\r\n--b--'|400|bad_request",
        "'--b\r\nContent-Type: application/json\r\n\r\n{}'|400|bad_request",
        "'{\"v\":1}'|400|bad_request",
        "''|400|bad_request",
      })
  void anything_else_is_refused_by_name(String body, int status, String error) {
    Answer answer = put("/w/a", utf8(body)).send();

    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    assertThat(answer.member("error")).isEqualTo(error);
    server.get("/w/a").expect(404);
  }

  /** CouchDB takes it, and nothing can have been lost. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'length\":3'|'xyz'|201",
        "'length\":3'|'xyz\r\n--b'|201",
        "'length\":3'|'xy'|400",
        "'length\":3'|'xyz\r\n'|400",
        "'stub\":false'|'xyz'|400"
      })
  void behind_an_attachment_of_known_length_the_closing_delimiter_may_be_missing(
      String member, String part, int status) {
    String document = "{\"_attachments\":{\"x\":{\"follows\":true,\"" + member + "}}}";
    String body = "--b\r\nContent-Type: application/json\r\n\r\n" + document;
    Answer answer = put("/w/a", utf8(body + "\r\n--b\r\n\r\n" + part)).send();
    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    server.get("/w/a/x").expect(status == 201 ? 200 : 404);
  }

  private static String part(String disposition, String content) {
    return "\r\n--b\r\n" + disposition + "\r\n\r\n" + content;
  }

  private Answer putBoth(String one, String other) {
    String document =
        "{\"_attachments\":{\"Ü"
            + " \\\"1\\\"\":{\"follows\":true,\"length\":3},\"b\":{\"follows\":true}}}";
    String json = "--b\r\nContent-Type: application/json\r\n\r\n" + document;
    return put("/w/a", utf8(json + one + other + "\r\n--b--")).send();
  }

  /** Quotes are escaped by some, and not by CouchDB. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Disposition: attachment; filename=\"Ü \"1\"\"",
        "content-disposition:attachment;filename=\"Ü \\\"1\\\"\"; x=\"y\"",
        "X: y"
      })
  void parts_are_of_whom_they_name(String disposition) {
    Answer answer =
        putBoth(
            part("Content-Disposition: attachment; filename=b", "of b"), part(disposition, "one"));
    assertThat(answer.status()).as(answer.body()).isEqualTo(201);
    server.get("/w/a/b").expect("of b");
    server.get("/w/a/%C3%9C%20%221%22").expect("one");
  }

  @Test
  void parts_without_names_are_in_the_documents_order_and_other_names_are_refused() {
    String b = part("Content-Disposition: attachment; filename=\"b\"", "of b");
    putBoth(b, b).expect(400);
    putBoth(b, part("Content-Disposition: x; filename=\"c\"", "one")).expect(400);
    server.get("/w/a").expect(404);
    putBoth(part("X: y", "one"), part("X: y", "of b")).expect(201);
    server.get("/w/a/b").expect("of b");
  }

  @ParameterizedTest
  @CsvSource({
    "'\"md5-kAFQmDzST7DWlj99KOF/cg==\"',201",
    "'\"md5-1B2M2Y8AsgTpgAmY7PhCfg==\"',400",
    "'\"md5-x\"',400",
    "'\"sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=\"',400",
    "'\"\"',400",
    "7,400",
    "null,201"
  })
  void a_parts_digest_is_its_md5(String digest, int status) {
    String document = "{\"_attachments\":{\"x\":{\"follows\":true,\"digest\":" + digest + "}}}";
    String body = "--b\r\nContent-Type: application/json\r\n\r\n" + document;
    Answer answer = put("/w/a", utf8(body + "\r\n--b\r\n\r\nabc\r\n--b--")).send();
    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
  }

  /** The client reads only when it has written everything, as most do. */
  @ParameterizedTest
  @CsvSource({
    "/w/a?rev=none,'{}',400",
    "/none/a,'{}',404",
    "/w/a,'[]',400",
    "/w/a,'{\"_attachments\":{}}',400",
    "/w/a,'{\"_attachments\":{\"x\":{\"follows\":true,\"length\":5}}}',400",
    "/w/a,'{\"_attachments\":{\"x\":{\"follows\":true,\"encoding\":\"gzip\"}}}',400"
  })
  void the_answer_to_a_body_that_is_refused_early_is_read(String target, String json, int status) {
    byte[] body = new byte[4 << 20];
    Arrays.fill(body, (byte) 'x');
    byte[] begin = utf8("--b\r\nContent-Type: application/json\r\n\r\n" + json + "\r\n--b\r\n\r\n");
    System.arraycopy(begin, 0, body, 0, begin.length);
    for (int i = 0; i < 20; i++) {
      put(target, body).send().expect(status);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "5000000,false",
    "5000001,true",
    "2305843009213693952,true",
    "4611686018427387904,true",
    "9223372036854775807,true"
  })
  void a_body_that_is_announced_as_too_long_is_413(long announced, boolean isTooLong) {
    assertThat(statusOf("PUT", "related", announced) == 413).isEqualTo(isTooLong);
    assertThat(!isTooLong || statusOf("POST", "form-data", announced) == 413).isTrue();
    Await.until(
        "nothing is held", () -> server.figure("lectus_memory_bytes{account=\"bodies\"}") == 0);
  }

  private int statusOf(String method, String type, long announced) {
    try (Connection connection =
        server
            .request(
                method,
                "/w/a",
                "Content-Type",
                "multipart/" + type + "; boundary=b",
                "Content-Length",
                "" + announced,
                "Referer",
                "http://host/")
            .open()) {
      connection.write("--b\r\nContent-Type: x/y\r\n\r\nx");
      return connection.read(false).status();
    }
  }

  @Test
  void without_a_boundary_it_is_400() {
    Answer answer =
        server
            .request("PUT", "/w/a", "Content-Type", "multipart/related")
            .body(alone("{}"))
            .send()
            .expect(400);
    assertThat(answer.member("reason")).contains("needs a boundary");
  }

  @ParameterizedTest
  @CsvSource({"/w", "/w/_bulk_docs", "/w/_bulk_get", "/w/_revs_diff", "/w/_all_docs"})
  void what_is_posted_has_to_be_json(String target) {
    Answer answer =
        server
            .request("POST", target, "Content-Type", "multipart/related; boundary=b")
            .body(alone("{\"docs\":[],\"keys\":[]}"))
            .send()
            .expect(415);
    assertThat(answer.member("error")).isEqualTo("bad_content_type");
  }

  @Test
  void a_compressed_body_is_taken() {
    byte[] bytes = Request.gzip(alone("{\"v\":\"" + "x".repeat(90_000) + "\"}"));
    put("/w/a", bytes).header("Content-Encoding", "gzip").send().expect(201);
    assertThat(server.get("/w/a").body()).contains("x".repeat(90_000));
  }

  @Test
  void the_limit_of_requests_holds_for_the_whole_body() {
    int around = alone(document(0)).length;

    put("/w/a", alone(document(MAX_HELD_BYTES - around))).send().expect(201);
    put("/w/b", alone(document(MAX_HELD_BYTES - around + 1))).send().expect(413);
  }

  /** Returns an empty document and so many blanks, which are valid JSON. */
  private static String document(int blanks) {
    return "{" + " ".repeat(blanks) + "}";
  }

  @Test
  void body_and_part_are_both_counted() {
    byte[] large = alone(document(LARGE_BYTES));
    AtomicReference<Connection> other = new AtomicReference<>(server.connect());
    Await.until("another body is held", () -> isHeldBeside(other, large));

    // What earlier tries held is given back once the server knows that their clients left.
    Await.until(
        "a body alone fits beside it",
        () -> server.put("/w/json", document(LARGE_BYTES)).status() == 201);
    other.get().close();
    Await.until("it is given back", () -> put("/w/b", large).send().status() == 201);
  }

  /** Sends a request again. It may be refused if the other one is counted first. */
  private boolean isHeldBeside(AtomicReference<Connection> other, byte[] large) {
    other.getAndSet(server.connect()).close();
    byte[] request = put("/w/other", large).bytes();
    try {
      other.get().write(Arrays.copyOf(request, request.length - 1));
    } catch (UncheckedIOException refused) {
      return false;
    }
    return put("/w/a", large).send().status() == 503;
  }

  /**
   * {@code open_revs} and {@code _bulk_get} in parts, byte for byte as CouchDB 3.5.2 sends them.
   */
  @Nested
  class Answers {
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
      Answer open =
          openRevisions("a?open_revs=all", Optional.ofNullable(accept)).send().expect(200);
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
              "--B\r\n"
                  + "Content-Type: application/json\r\n\r\n"
                  + "{\"_id\":\"a\",\"_rev\":\"3-a\",\"v\":1}\r\n"
                  + "--B\r\n"
                  + "Content-Type: application/json\r\n\r\n"
                  + "{\"_id\":\"a\",\"_rev\":\"4-b\",\"v\":2}\r\n"
                  + "--B\r\n"
                  + "Content-Type: application/json\r\n\r\n"
                  + "{\"_id\":\"a\",\"_rev\":\"9-t\",\"_deleted\":true}\r\n"
                  + "--B--");
    }

    @Test
    void missing_revisions_are_parts_of_their_own() {
      assertThat(parts(mixed("a?open_revs=[%229-abc%22,%223-a%22]&revs=true")))
          .isEqualTo(
              "--B\r\n"
                  + "Content-Type: application/json\r\n\r\n"
                  + "{\"_id\":\"a\",\"_rev\":\"3-a\",\"v\":1,"
                  + "\"_revisions\":{\"start\":3,\"ids\":[\"a\",\"a2\",\"x\"]}}\r\n"
                  + "--B\r\n"
                  + "Content-Type: application/json; error=\"true\"\r\n\r\n"
                  + "{\"missing\":\"9-abc\"}\r\n"
                  + "--B--");
      assertThat(parts(mixed("never?open_revs=[%221-x%22]")))
          .isEqualTo(
              "--B\r\nContent-Type: application/json; error=\"true\"\r\n\r\n"
                  + "{\"missing\":\"1-x\"}\r\n--B--");
    }

    @Test
    void what_is_no_list_of_revisions_is_json() {
      mixed("never?open_revs=all")
          .expect(404, "{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
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
}
