package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * An update clears its parent's body (RFC 004). Every request for that revision gives the answer
 * that CouchDB 3.5.2 gave after {@code _compact}.
 */
final class ReplacedRevisionsTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  private static final String ZEROS = "0".repeat(31);

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

  private void replicate(String member, int start, String... ids) {
    String path = Arrays.stream(ids).collect(Collectors.joining("\",\"", "[\"", "\"]"));
    server.write(
        "/w/d?new_edits=false",
        "{\"_rev\":\"%d-%s\",\"_revisions\":{\"start\":%d,\"ids\":%s},%s}"
            .formatted(start, ids[0], start, path, member));
  }

  private String document(String name, String member) {
    return "{\"_id\":\"d\",\"_rev\":\"" + revisions.get(name) + "\"," + member + "}";
  }

  private Answer get(String query) {
    return server.request("GET", "/w/d?" + query).header("Accept", "application/json").send();
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
    assertThat(server.post("/w/_revs_diff", "{\"d\":[\"" + revisions.get(name) + "\"]}").body())
        .isEqualTo(
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
      assertThat(read.body()).isEqualTo(document + "\n");
      assertThat(open).isEqualTo("[{\"ok\":" + document + "}]\n");
      assertThat(bulkGet("", revision)).isEqualTo(results("{\"ok\":" + document + "}"));
    } else {
      assertThat(read.status()).isEqualTo(404);
      assertThat(read.body()).isEqualTo("{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
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
            "\"_revs_info\":[{\"rev\":\"%s\",\"status\":\"available\"},"
                    .formatted(revisions.get("winner"))
                + "{\"rev\":\"%s\",\"status\":\"missing\"},{\"rev\":\"%s\",\"status\":\"missing\"}]"
                    .formatted(revisions.get("second"), revisions.get("first")))
        .contains("\"_conflicts\":[\"" + revisions.get("conflict") + "\"]")
        .contains("\"_deleted_conflicts\":[\"" + revisions.get("tombstone") + "\"]");
  }

  @Test
  void several_are_answered_together() {
    String asked =
        revisions.values().stream().collect(Collectors.joining("%22,%22", "[%22", "%22]"));

    assertThat(get("open_revs=" + asked).body())
        .startsWith("[{\"ok\":" + documents.get("tombstone") + "},{\"ok\":")
        .endsWith(
            "},{\"missing\":\"%s\"},{\"missing\":\"%s\"},{\"missing\":\"%s\"},{\"missing\":\"%s\"}]\n"
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

    assertThat(server.put("/w/d?rev=" + revision, "{}").status()).isEqualTo(409);
    assertThat(server.delete("/w/d?rev=" + revision).status()).isEqualTo(409);
    assertThat(
            server
                .request("COPY", "/w/d?rev=" + revision)
                .header("Destination", "e")
                .send()
                .status())
        .isEqualTo(404);
  }

  /** Only its tombstone is left. */
  @Test
  void a_conflict_that_was_resolved_is_gone_as_well() {
    String resolved = server.delete("/w/d?rev=" + revisions.get("conflict")).member("rev");

    assertThat(get("rev=" + revisions.get("conflict")).status()).isEqualTo(404);
    assertThat(get("rev=" + resolved).body()).endsWith("\"_deleted\":true}\n");
    assertThat(get("conflicts=true").body()).doesNotContain("_conflicts");
    assertThat(get("latest=true&open_revs=[%22" + revisions.get("conflict") + "%22]").body())
        .isEqualTo("[{\"ok\":{\"_id\":\"d\",\"_rev\":\"" + resolved + "\",\"_deleted\":true}}]\n");
  }
}
