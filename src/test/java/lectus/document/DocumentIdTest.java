package lectus.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lectus.error.LectusError;
import lectus.error.LectusException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DocumentIdTest {

  @ParameterizedTest
  @ValueSource(
      strings = {"a", ".", "..", "a/b", " ", "+", "\0", "ü", "😀", "_design/x", "_local/x", "a_b"})
  void legal(String id) {
    assertThat(DocumentId.check(id, 512)).isEqualTo(id);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''        | Document id must not be empty",
        "_design/  | Illegal document id `_design/`",
        "_local/   | Illegal document id `_local/`",
        "_         | Only reserved document ids may start with underscore.",
        "_x        | Only reserved document ids may start with underscore.",
        "_design   | Only reserved document ids may start with underscore.",
        "_Design/x | Only reserved document ids may start with underscore.",
      })
  void illegal(String id, String reason) {
    assertIllegal(id, 512, reason);
  }

  @Test
  void length_counts_bytes_of_utf8() {
    assertThat(DocumentId.check("x".repeat(512), 512)).hasSize(512);
    assertIllegal("x".repeat(513), 512, "Document id is too long");
    assertThat(DocumentId.check("ü".repeat(256), 512)).hasSize(256);
    assertIllegal("ü".repeat(256) + "x", 512, "Document id is too long");
    assertThat(DocumentId.check("😀".repeat(128), 512)).hasSize(256);
    assertIllegal("😀".repeat(128) + "x", 512, "Document id is too long");
    assertThat(DocumentId.check("abc", 3)).isEqualTo("abc");
    assertIllegal("abcd", 3, "Document id is too long");
  }

  @ParameterizedTest
  @ValueSource(ints = {0xd800, 0xdc00})
  void unpaired_surrogates_are_no_utf8(int surrogate) {
    assertIllegal("a" + (char) surrogate, 512, "Document id must be valid UTF-8");
    assertIllegal((char) surrogate + "a", 512, "Document id must be valid UTF-8");
  }

  private static void assertIllegal(String id, int maxBytes, String reason) {
    assertThatThrownBy(() -> DocumentId.check(id, maxBytes))
        .isInstanceOfSatisfying(
            LectusException.class,
            e ->
                assertThat(e.error())
                    .isEqualTo(new LectusError.BadRequest("illegal_docid", reason)));
  }
}
