package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Revisions that are not digests, and histories, as CouchDB 3.5.2 answers them. */
final class RevisionTextsTest {
  private static final String INVALID =
      "{\"error\":\"bad_request\",\"reason\":\"Invalid rev format\"}\n";

  @RegisterExtension static final LectusServer server = LectusServer.shared();

  @BeforeEach
  void create() {
    server.put("/w");
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
    assertThat(server.post("/w/_revs_diff", "{\"a\":[\"" + given + "\"]}").body())
        .isEqualTo("{}\n");
    String child = server.write("/w/a", "{\"_rev\":\"" + given + "\",\"v\":1}");
    assertThat(child).matches("[0-9]+-[0-9a-f]{32}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1", "-a", "-1-a", "x-a", "1-zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"})
  void what_is_no_revision_is_refused_wherever_it_stands(String rev) {
    server.put("/w/a", "{}");

    assertThat(server.put("/w/b?new_edits=false", "{\"_rev\":\"" + rev + "\"}").body())
        .isEqualTo(INVALID);
    assertThat(server.get("/w/a?rev=" + rev).body()).isEqualTo(INVALID);
    assertThat(server.post("/w/_revs_diff", "{\"a\":[\"" + rev + "\"]}").body()).isEqualTo(INVALID);
    assertThat(server.get("/w/a?open_revs=%5B%22" + rev + "%22%5D").body()).isEqualTo(INVALID);
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
    assertThat(server.request("GET", "/w/a").header("If-None-Match", header).send().status())
        .isEqualTo(304);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1-b\u00fcro", "1-\u6f22"})
  void a_revision_that_is_not_ascii_is_utf8_in_headers(String rev) {
    String header =
        '"' + new String(rev.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1) + '"';
    server.put("/w/a?new_edits=false", "{\"_rev\":\"" + rev + "\"}");

    assertThat(server.get("/w/a").header("etag")).isEqualTo(header);
    assertThat(server.request("GET", "/w/a").header("If-None-Match", header).send().status())
        .isEqualTo(304);
    assertThat(server.request("DELETE", "/w/a").header("If-Match", header).send().status())
        .isEqualTo(200);
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

    assertThat(server.get("/w/a?conflicts=true").body())
        .isEqualTo(
            "{\"_id\":\"a\",\"_rev\":\"1-ff00000000000000000000000000000a\","
                + "\"_conflicts\":[\"1-zz\",\"1-6162636465666768696a6b6c6d6e6f70\","
                + "\"1-61000000000000000000000000000000\",\"1-a\","
                + "\"1-00000000000000000000000000000001\",\"1-\"]}\n");
  }

  @Test
  void an_edit_of_position_0_has_it_in_its_history() {
    replicate("a", "0-x");
    String child = server.write("/w/a", "{\"_rev\":\"0-x\"}");

    assertThat(child).startsWith("1-");
    assertThat(server.get("/w/a?revs=true").body())
        .endsWith("\"_revisions\":{\"start\":1,\"ids\":[\"" + child.substring(2) + "\",\"x\"]}}\n");
    assertThat(server.post("/w/_revs_diff", "{\"a\":[\"0-x\",\"0-y\"]}").body())
        .isEqualTo("{\"a\":{\"missing\":[\"0-y\"]}}\n");
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
                .request("GET", "/w/a?revs=true&open_revs=all")
                .header("Accept", "application/json")
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
}
