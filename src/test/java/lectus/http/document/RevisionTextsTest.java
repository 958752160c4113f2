package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Revisions that are not digests, histories, and revisions whose bodies an update has cleared (RFC
 * 004), as CouchDB 3.5.2 answers them after {@code _compact}.
 */
final class RevisionTextsTest {
  private static final String INVALID =
      "{\"error\":\"bad_request\",\"reason\":\"Invalid rev format\"}\n";

  private static final String ZEROS = "0".repeat(31);

  @RegisterExtension static final LectusServer server = LectusServer.shared("/w");

  /** Revisions by the names in the tables below. */
  private final Map<String, String> revisions = new LinkedHashMap<>();

  private final Map<String, String> documents = new LinkedHashMap<>();

  /**
   *
   *
   * <pre>
   * first ── second ── winner
   *    ├──── unseen ── conflict     replicated: the body of unseen has never been here
   *    └──── tombstone
   * </pre>
   */
  @BeforeEach
  void write() {
    server.put("/w");
    String first = server.write("/w/d", "{\"v\":1}");
    String second = server.write("/w/d?rev=" + first, "{\"v\":2}");
    String winner = server.write("/w/d?rev=" + second, "{\"v\":3}");
    String root = first.substring(2);
    replicate("\"v\":4", 3, ZEROS + "b", ZEROS + "a", root);
    replicate("\"_deleted\":true", 2, ZEROS + "f", root);
    revisions.put("first", first);
    revisions.put("second", second);
    revisions.put("winner", winner);
    revisions.put("unseen", "2-" + ZEROS + "a");
    revisions.put("conflict", "3-" + ZEROS + "b");
    revisions.put("tombstone", "2-" + ZEROS + "f");
    revisions.put("unknown", "9-abc");
    documents.put("winner", document("winner", "\"v\":3"));
    documents.put("conflict", document("conflict", "\"v\":4"));
    documents.put("tombstone", document("tombstone", "\"_deleted\":true"));
  }

  private void replicate(String id, String rev) {
    String stored = server.write("/w/" + id + "?new_edits=false", "{\"_rev\":\"" + rev + "\"}");
    assertThat(server.get("/w/" + id).member("_rev")).isEqualTo(stored);
  }

  @ParameterizedTest
  @CsvSource({
    "1-, 1-",
    "0-x, 0-x",
    "007-abc, 7-abc",
    "+3-abc, 3-abc",
    "1-ABCDEF0123456789ABCDEF0123456789, 1-abcdef0123456789abcdef0123456789",
    "1-abcdefghijklmnop, 1-6162636465666768696a6b6c6d6e6f70",
    "0-abcdefghijklmnop, 0-abcdefghijklmnop",
  })
  void a_replicated_revision_is_read_under_both_spellings(String given, String printed) {
    replicate("a", given);

    assertThat(server.get("/w/a").member("_rev")).isEqualTo(printed);
    assertThat(server.get("/w/a?rev=" + given.replace("+", "%2B")).member("_rev"))
        .isEqualTo(printed);
    assertThat(server.get("/w/a?rev=" + printed).member("_rev")).isEqualTo(printed);
    server.post("/w/_revs_diff", "{\"a\":[\"" + given + "\"]}").expect("{}\n");
    String child = server.write("/w/a", "{\"_rev\":\"" + given + "\",\"v\":1}");
    assertThat(child).matches("[0-9]+-[0-9a-f]{32}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1", "-a", "-1-a", "x-a", "1-zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"})
  void what_is_no_revision_is_refused_wherever_it_stands(String rev) {
    server.put("/w/a", "{}");

    server.put("/w/b?new_edits=false", "{\"_rev\":\"" + rev + "\"}").expect(INVALID);
    server.get("/w/a?rev=" + rev).expect(INVALID);
    server.post("/w/_revs_diff", "{\"a\":[\"" + rev + "\"]}").expect(INVALID);
    server.get("/w/a?open_revs=%5B%22" + rev + "%22%5D").expect(INVALID);
  }

  @ParameterizedTest
  @CsvSource({
    "1-a\\u0000b, 1-a%00b",
    "1-a\\r\\nX-Other: 1, 1-a%0D%0AX-Other: 1",
    "1-a\\n b, 1-a%0A b",
    "1-a\\u007f, 1-a%7F"
  })
  void a_revision_that_no_header_may_have_is_encoded_there(String rev, String tag) {
    String header = "\"" + tag + "\"";
    String body = "{\"_rev\":\"" + rev + "\"}";

    assertThat(server.put("/w/a?new_edits=false", body).header("etag")).isEqualTo(header);
    assertThat(server.get("/w/a").header("etag")).isEqualTo(header);
    assertThat(server.head("/w/a").header("etag")).isEqualTo(header);
    server.request("GET", "/w/a", "If-None-Match", header).send().expect(304);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1-b\u00fcro", "1-\u6f22"})
  void a_revision_that_is_not_ascii_is_utf8_in_headers(String rev) {
    String header =
        '"' + new String(rev.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1) + '"';
    server.put("/w/a?new_edits=false", "{\"_rev\":\"" + rev + "\"}");

    assertThat(server.get("/w/a").header("etag")).isEqualTo(header);
    server.request("GET", "/w/a", "If-None-Match", header).send().expect(304);
    server.request("DELETE", "/w/a", "If-Match", header).send().expect(200);
  }

  @Test
  void the_highest_bytes_win() {
    for (String rev :
        new String[] {
          "1-a",
          "1-ff00000000000000000000000000000a",
          "1-00000000000000000000000000000001",
          "1-61000000000000000000000000000000",
          "1-",
          "1-abcdefghijklmnop",
          "1-zz"
        }) {
      server.write("/w/a?new_edits=false", "{\"_rev\":\"" + rev + "\"}");
    }

    server
        .get("/w/a?conflicts=true")
        .expect(
            json(
                "{'_id':'a','_rev':'1-ff00000000000000000000000000000a','_conflicts':['1-zz','1-6162636465666768696a6b6c6d6e6f70','1-61000000000000000000000000000000','1-a','1-00000000000000000000000000000001','1-']}\n"));
  }

  @Test
  void an_edit_of_position_0_has_it_in_its_history() {
    replicate("a", "0-x");
    String child = server.write("/w/a", "{\"_rev\":\"0-x\"}");

    assertThat(child).startsWith("1-");
    assertThat(server.get("/w/a?revs=true").body())
        .endsWith("\"_revisions\":{\"start\":1,\"ids\":[\"" + child.substring(2) + "\",\"x\"]}}\n");
    server
        .post("/w/_revs_diff", json("{'a':['0-x','0-y']}"))
        .expect(json("{'a':{'missing':['0-y']}}\n"));
  }

  @Test
  void a_lowered_limit_shortens_revs_at_once_and_what_is_known_with_the_next_edit() {
    String rev = server.write("/w/a", "{\"n\":1}");
    String first = rev;
    for (int n = 2; n <= 5; n++) {
      rev = server.write("/w/a?rev=" + rev, "{\"n\":" + n + "}");
    }
    server.put("/w/_revs_limit", "2");

    assertThat(historyLengths(rev)).containsOnly(2);
    assertThat(count(server.get("/w/a?revs_info=true").body(), "\"status\"")).isEqualTo(5);
    assertThat(diff(first)).isEqualTo("{}\n");

    String next = server.write("/w/a?rev=" + rev, "{}");
    assertThat(historyLengths(next)).containsOnly(2);
    assertThat(count(server.get("/w/a?revs_info=true").body(), "\"status\"")).isEqualTo(2);
    assertThat(diff(first)).contains("\"missing\":[\"" + first + "\"]");
    server.put("/w/_revs_limit", "1000");
    assertThat(historyLengths(next)).containsOnly(2);
  }

  @Test
  void a_limit_that_is_raised_again_before_any_edit_shows_what_is_stored() {
    String second = server.write("/w/a?rev=" + server.write("/w/a", "{}"), "{}");
    server.put("/w/_revs_limit", "1");
    assertThat(historyLengths(second)).containsOnly(1);

    server.put("/w/_revs_limit", "2");
    assertThat(historyLengths(second)).containsOnly(2);
  }

  /** Returns the number of revisions that each way of reading a history gives. */
  private List<Integer> historyLengths(String rev) {
    return Stream.of(
            server.get("/w/a?revs=true"),
            server.get("/w/a?revs=true&rev=" + rev),
            server
                .request("GET", "/w/a?revs=true&open_revs=all", "Accept", "application/json")
                .send(),
            server.post("/w/_bulk_get?revs=true", "{\"docs\":[{\"id\":\"a\"}]}"))
        .map(
            answer -> {
              String ids = answer.body().substring(answer.body().indexOf("\"ids\":[") + 7);
              return count(ids.substring(0, ids.indexOf(']')), "\"") / 2;
            })
        .toList();
  }

  private String diff(String revision) {
    return server.post("/w/_revs_diff", "{\"a\":[\"" + revision + "\"]}").body();
  }

  private static int count(String text, String part) {
    return text.split(Pattern.quote(part), -1).length - 1;
  }

  private void replicate(String member, int start, String... ids) {
    String path = Arrays.stream(ids).collect(Collectors.joining("\",\"", "[\"", "\"]"));
    server.write(
        "/w/d?new_edits=false",
        json("{'_rev':'%d-%s','_revisions':{'start':%d,'ids':%s},%s}")
            .formatted(start, ids[0], start, path, member));
  }

  private String document(String name, String member) {
    return "{\"_id\":\"d\",\"_rev\":\"" + revisions.get(name) + "\"," + member + "}";
  }

  private Answer get(String query) {
    return server.request("GET", "/w/d?" + query, "Accept", "application/json").send();
  }

  private String bulkGet(String query, String revision) {
    String docs = "{\"docs\":[{\"id\":\"d\",\"rev\":\"" + revision + "\"}]}";
    return server.post("/w/_bulk_get" + query, docs).body();
  }

  /**
   * The columns: a revision; its leaves, of which it is one if it has a body; and whether a
   * replicator has to send it.
   */
  @ParameterizedTest
  @CsvSource({
    "first,     tombstone conflict winner, known",
    "second,    winner,                    known",
    "winner,    winner,                    known",
    "unseen,    conflict,                  known",
    "conflict,  conflict,                  known",
    "tombstone, tombstone,                 known",
    "unknown,   '',                        missing",
  })
  void every_way_to_ask_tells_the_same(String name, String leaves, String state) {
    List<String> below = leaves.isEmpty() ? List.of() : List.of(leaves.split(" "));

    assertReads(name, below.contains(name));
    assertLatest(name, below);
    server
        .post("/w/_revs_diff", json("{'d':['%s']}").formatted(revisions.get(name)))
        .expect(
            state.equals("known")
                ? "{}\n"
                : "{\"d\":{\"missing\":[\"9-abc\"],\"possible_ancestors\":[\"%s\",\"%s\",\"%s\"]}}\n"
                    .formatted(
                        revisions.get("winner"),
                        revisions.get("conflict"),
                        revisions.get("tombstone")));
  }

  private void assertReads(String name, boolean stored) {
    String revision = revisions.get(name);
    Answer read = get("rev=" + revision);
    String open = get("open_revs=[%22" + revision + "%22]").body();
    if (stored) {
      String document = documents.get(name);
      read.expect(document + "\n");
      assertThat(open).isEqualTo("[{\"ok\":" + document + "}]\n");
      assertThat(bulkGet("", revision)).isEqualTo(results("{\"ok\":" + document + "}"));
    } else {
      read.expect(404, "{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
      assertThat(open).isEqualTo("[{\"missing\":\"" + revision + "\"}]\n");
      assertThat(bulkGet("", revision)).isEqualTo(results(missing(revision)));
    }
  }

  private void assertLatest(String name, List<String> leaves) {
    String revision = revisions.get(name);
    String open = get("latest=true&open_revs=[%22" + revision + "%22]").body();
    String bulk = bulkGet("?latest=true", revision);
    if (leaves.isEmpty()) {
      assertThat(open).isEqualTo("[{\"missing\":\"" + revision + "\"}]\n");
      assertThat(bulk).isEqualTo(results(missing(revision)));
    } else {
      assertThat(open)
          .isEqualTo(
              leaves.stream()
                  .map(leaf -> "{\"ok\":" + documents.get(leaf) + "}")
                  .collect(Collectors.joining(",", "[", "]\n")));
      documents.forEach(
          (leaf, document) -> assertThat(bulk.contains(document)).isEqualTo(leaves.contains(leaf)));
      assertThat(bulk).doesNotContain("error");
    }
    assertThat(get("latest=true&rev=" + revision).body()).isEqualTo(documents.get("winner") + "\n");
  }

  private static String results(String docs) {
    return "{\"results\":[{\"id\":\"d\",\"docs\":[" + docs + "]}]}\n";
  }

  private static String missing(String revision) {
    return "{\"error\":{\"rev\":\"%s\",\"reason\":\"missing\",\"id\":\"d\",\"error\":\"not_found\"}}"
        .formatted(revision);
  }

  @Test
  void revs_info_says_missing_of_what_cannot_be_read() {
    String read = get("revs_info=true&conflicts=true&deleted_conflicts=true").body();

    assertThat(read)
        .contains(
            json("'_revs_info':[{'rev':'%s','status':'available'},")
                    .formatted(revisions.get("winner"))
                + "{\"rev\":\"%s\",\"status\":\"missing\"},{\"rev\":\"%s\",\"status\":\"missing\"}]"
                    .formatted(revisions.get("second"), revisions.get("first")))
        .contains(json("'_conflicts':['%s']").formatted(revisions.get("conflict")))
        .contains(json("'_deleted_conflicts':['%s']").formatted(revisions.get("tombstone")));
  }

  @Test
  void several_are_answered_together() {
    String asked =
        revisions.values().stream().collect(Collectors.joining("%22,%22", "[%22", "%22]"));

    assertThat(get("open_revs=" + asked).body())
        .startsWith(json("[{'ok':%s},{'ok':").formatted(documents.get("tombstone")))
        .endsWith(
            json("},{'missing':'%s'},{'missing':'%s'},{'missing':'%s'},{'missing':'%s'}]\n")
                .formatted(
                    revisions.get("first"),
                    revisions.get("unseen"),
                    revisions.get("second"),
                    revisions.get("unknown")));
  }

  @ParameterizedTest
  @CsvSource({"first", "second", "unseen"})
  void nothing_is_built_on_what_is_gone(String name) {
    String revision = revisions.get(name);

    server.put("/w/d?rev=" + revision, "{}").expect(409);
    server.delete("/w/d?rev=" + revision).expect(409);
    server.request("COPY", "/w/d?rev=" + revision, "Destination", "e").send().expect(404);
  }

  /** Only its tombstone is left. */
  @Test
  void a_conflict_that_was_resolved_is_gone_as_well() {
    String resolved = server.delete("/w/d?rev=" + revisions.get("conflict")).member("rev");

    get("rev=" + revisions.get("conflict")).expect(404);
    assertThat(get("rev=" + resolved).body()).endsWith("\"_deleted\":true}\n");
    assertThat(get("conflicts=true").body()).doesNotContain("_conflicts");
    assertThat(get("latest=true&open_revs=[%22" + revisions.get("conflict") + "%22]").body())
        .isEqualTo("[{\"ok\":{\"_id\":\"d\",\"_rev\":\"" + resolved + "\",\"_deleted\":true}}]\n");
  }
}
