package lectus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.cli.SampleCommand.UnicodeCharacters;
import lectus.json.JsonBuffer;
import lectus.json.JsonInput;
import org.junit.jupiter.api.Test;

final class UnicodeCharactersTest {

  @Test
  void a_letter() {
    assertThat(document('a'))
        .isEqualTo(
            "{\"_id\":\"U+0061\",\"code\":97,\"character\":\"a\",\"name\":\"LATIN SMALL LETTER A\","
                + "\"block\":\"BASIC_LATIN\",\"script\":\"LATIN\",\"category\":\"Ll\",\"bidi\":\"L\","
                + "\"mirrored\":false,\"numeric\":10,\"case\":{\"upper\":\"A\",\"title\":\"A\"}}");
  }

  @Test
  void a_character_beyond_the_basic_plane_and_one_whose_upper_case_is_two() {
    assertThat(document(0x1F600)).contains("\"U+1F600\"", "\"\ud83d\ude00\"", "GRINNING FACE");
    assertThat(document(0xDF)).contains("\"case\":{\"upper\":\"SS\"}");
  }

  @Test
  void some_140_000_characters_are_assigned_and_each_makes_a_document() {
    JsonBuffer buffer = new JsonBuffer(1_000);
    long documents =
        UnicodeCharacters.all()
            .peek(
                codePoint -> {
                  buffer.truncate(0);
                  UnicodeCharacters.write(codePoint, buffer);
                  parse(buffer);
                })
            .count();
    assertThat(documents).isBetween(140_000L, 200_000L);
  }

  private static void parse(JsonBuffer buffer) {
    try (JsonInput input = JsonInput.of(buffer.toBytes())) {
      input.next();
      input.skip();
      input.expectEnd();
    }
  }

  private static String document(int codePoint) {
    JsonBuffer buffer = new JsonBuffer(1_000);
    UnicodeCharacters.write(codePoint, buffer);
    return buffer.toString();
  }
}
