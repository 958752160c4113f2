package lectus.revision;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import lectus.json.JsonBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which texts CouchDB 3.5.2 accepts as revisions, how it prints them, and how it compares them. */
class RevisionIdTest {
  @ParameterizedTest
  @CsvSource({
    "1-a, 1-a",
    "1-, 1-",
    "007-abc, 7-abc",
    "+3-abc, 3-abc",
    "1-a-b, 1-a-b",
    "0-x, 0-x",
    "1-ABCDEF0123456789ABCDEF0123456789, 1-abcdef0123456789abcdef0123456789",
    "1-abcdefghijklmnop, 1-6162636465666768696a6b6c6d6e6f70",
    "0-abcdefghijklmnop, 0-abcdefghijklmnop",
    "0-0123456789ABCDEF0123456789ABCDEF, 0-0123456789ABCDEF0123456789ABCDEF",
    "000000000000000000000000000000000001-a, 1-a",
    "999999999999999999-a, 999999999999999999-a"
  })
  void texts_that_are_revisions(String text, String printed) {
    RevisionId revision = RevisionId.of(text);

    assertThat(revision).hasToString(printed);
    assertThat(json(revision)).isEqualTo('"' + printed + '"');
    assertThat(RevisionId.of(printed)).isEqualTo(revision);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1",
        "-",
        "-a",
        "-1-a",
        "+-a",
        "x-a",
        "1.0-a",
        " 1-a",
        "1-zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
        "1-0123456789abcdef0123456789abcd\u00e9",
        "1000000000000000000-a",
        "99999999999999999999-a"
      })
  void texts_that_are_none(String text) {
    assertThat(RevisionId.parse(text)).isEmpty();
  }

  @Test
  void hashes_have_at_most_255_bytes() {
    assertThat(RevisionId.parse("1-" + "x".repeat(255))).isPresent();
    assertThat(RevisionId.parse("1-" + "x".repeat(256))).isEmpty();
    assertThat(RevisionId.parse("0-" + "x".repeat(256))).isEmpty();
  }

  @Test
  void hashes_compare_by_their_bytes() {
    List<RevisionId> ascending =
        List.of(
                "0-zz",
                "1-",
                "1-00000000000000000000000000000001",
                "1-a",
                "1-61000000000000000000000000000000",
                "1-abcdefghijklmnop",
                "1-zz",
                "1-ff00000000000000000000000000000a",
                "2-")
            .stream()
            .map(RevisionId::of)
            .toList();

    assertThat(ascending).isSorted();
  }

  @Test
  void an_ancestor_at_position_0_is_printed_as_its_child_has_it() {
    RevisionHash sixteen = RevisionHash.parse("abcdefghijklmnop", 0).orElseThrow();

    assertThat(new RevisionId(0, sixteen)).hasToString("0-abcdefghijklmnop");
    assertThat(sixteen.text(1)).isEqualTo("6162636465666768696a6b6c6d6e6f70");
    assertThat(RevisionHash.parse(sixteen.text(1))).isEqualTo(Optional.of(sixteen));
  }

  private static String json(RevisionId revision) {
    JsonBuffer out = new JsonBuffer(16);
    RevisionText.append(out, revision);
    return new String(out.array(), 0, out.length(), StandardCharsets.UTF_8);
  }
}
