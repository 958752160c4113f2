package lectus.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.error.LectusError;
import lectus.error.LectusException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 2046, section 5.1, as far as a document without attachments needs it. */
final class RelatedDocumentTest {
  private static final String TYPE = "multipart/related; boundary=B";
  private static final String HEADERS = "Content-Type: application/json\r\n\r\n";
  private static final String JSON = "{\"v\":\"--B\"}";

  /** Returns the first part, however the body comes. */
  private static String json(String contentType, String body) {
    String whole = parts(contentType, body, Integer.MAX_VALUE).get(0);
    for (int size : new int[] {1, 2, 3, 7}) {
      assertThat(parts(contentType, body, size).get(0)).isEqualTo(whole);
    }
    return whole;
  }

  /**
   * @param size of the pieces in which the body comes
   */
  private static List<String> parts(String contentType, String body, int size) {
    Collected collected = new Collected();
    PartStream stream = RelatedDocument.of(contentType).parts(collected);
    byte[] bytes = body.getBytes(StandardCharsets.ISO_8859_1);
    for (int at = 0; at < bytes.length; at += Math.min(size, bytes.length)) {
      int end = (int) Math.min(bytes.length, (long) at + size);
      stream.take(Arrays.copyOfRange(bytes, at, end));
    }
    stream.end();
    return collected.parts;
  }

  private static final class Collected implements PartStream.Parts {
    private final List<String> parts = new ArrayList<>();
    private final StringBuilder content = new StringBuilder();

    @Override
    public void begins(String headers) {
      if (parts.isEmpty()) {
        RelatedDocument.checkJson(headers);
      }
    }

    @Override
    public void content(byte[] bytes, int from, int to) {
      content.append(new String(bytes, from, to - from, StandardCharsets.ISO_8859_1));
    }

    @Override
    public void ends() {
      parts.add(content.toString());
      content.setLength(0);
    }
  }

  private static String alone(String boundary) {
    return "--" + boundary + "\r\n" + HEADERS + JSON + "\r\n--" + boundary + "--";
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "multipart/related; boundary=B",
        "multipart/related;boundary=\"B\"",
        "Multipart/Related ;; type=\"application/json; x\\\"y\" ; BOUNDARY = B ",
        "multipart/related; boundary=B; boundary=C",
      })
  void the_boundary_is_found_in_the_content_type(String contentType) {
    assertThat(json(contentType, alone("B"))).isEqualTo(JSON);
  }

  @Test
  void other_types_are_not_unwrapped() {
    assertThat(MediaType.isNamed(RelatedDocument.MEDIA_TYPE, null)).isFalse();
    assertThat(MediaType.isNamed(RelatedDocument.MEDIA_TYPE, "application/json")).isFalse();
    assertThat(MediaType.isNamed(RelatedDocument.MEDIA_TYPE, "multipart/mixed; boundary=B"))
        .isFalse();
    assertThat(MediaType.isNamed(RelatedDocument.MEDIA_TYPE, "multipart/relatedly; boundary=B"))
        .isFalse();
  }

  @Test
  void a_boundary_has_1_to_70_characters_and_ends_with_no_space() {
    String longest = "x' ()+_,-./:=?" + "9".repeat(56);
    assertThat(json("multipart/related; boundary=\"" + longest + '"', alone(longest)))
        .isEqualTo(JSON);

    for (String boundary :
        new String[] {"\"" + longest + "9\"", "\"\"", "", "\"a \"", "\"a;b\"", "ü"}) {
      assertBadRequest("multipart/related; boundary=" + boundary, alone("a"));
    }
    assertBadRequest("multipart/related", alone("B"));
    assertBadRequest("multipart/related; boundary", alone("B"));
    assertBadRequest("multipart/related; boundary=\"B", alone("B"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "preamble\r\n",
        "two\r\nlines, and an empty one: \r\n\r\n",
        "\r\n",
        "--\r\n--C\r\n",
        "--C\r\nContent-Type: text/plain\r\n\r\nno part\r\n",
      })
  void the_preamble_says_nothing(String preamble) {
    assertThat(json(TYPE, preamble + alone("B"))).isEqualTo(JSON);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\r\n", "epilogue", "\r\n--B\r\n" + HEADERS + "{}\r\n--B--"})
  void the_epilogue_says_nothing(String epilogue) {
    assertThat(json(TYPE, alone("B") + epilogue)).isEqualTo(JSON);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Type: application/json\r\n\r\n",
        "content-type:APPLICATION/JSON; charset=utf-8\r\n\r\n",
        "X: y\r\nContent-Type:\r\n application/json\r\nContent-Length: 5\r\n\r\n",
      })
  void headers_of_the_part(String headers) {
    assertThat(json(TYPE, "--B \t\r\n" + headers + JSON + "\r\n--B--")).isEqualTo(JSON);
  }

  @Test
  void the_content_keeps_its_bytes() {
    for (String content : new String[] {"", "\r\n", "{\r\n}\r\n", "\r\r\n-\r\n--", "--B", "é\0"}) {
      assertThat(json(TYPE, "--B\r\n" + HEADERS + content + "\r\n--B--")).isEqualTo(content);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''                                        | does not occur",
        "'{\"v\":1}'                               | does not occur",
        "'--C\r\nContent-Type: application/json\r\n\r\n{}\r\n--C--' | does not occur",
        "' --B\r\nContent-Type: application/json\r\n\r\n{}\r\n--B-' | line has to end",
        "'--B'                                     | line has to end",
        "'--B--'                                   | no part",
        "'--BB\r\nContent-Type: application/json\r\n\r\n{}\r\n--BB--' | line has to end",
        "'--B\nContent-Type: application/json\n\n{}\n--B--' | line has to end",
        "'--B\r\n'                                 | inside the headers",
        "'--B\r\nContent-Type: application/json'   | inside the headers",
        "'--B\r\nContent-Type: application/json\r\n{}\r\n--B--' | inside the headers",
        "'--B\r\nnothing\r\n\r\n{}\r\n--B--'       | bad part header",
        "'--B\r\nContent-Type: application/json\r\n\r\n' | inside a part",
        "'--B\r\nContent-Type: application/json\r\n\r\n{}' | inside a part",
        "'--B\r\nContent-Type: application/json\r\n\r\n{}--B--' | inside a part",
        "'--B\r\nContent-Type: application/json\r\n\r\n{}\r\n--' | inside a part",
        "'--B\r\nContent-Type: application/json\r\n\r\n{}\r\n--B' | line has to end",
        "'--B\r\nContent-Type: application/json\r\n\r\n{}\r\n--BB--' | line has to end",
      })
  void malformed_bodies_are_told_what_is_wrong(String body, String reason) {
    assertThat(badRequest(TYPE, body).reason()).contains(reason);
  }

  @Test
  void a_first_part_that_is_no_json_is_of_a_bad_type() {
    for (String headers :
        new String[] {"\r\n", "X: y\r\n\r\n", "Content-Type: text/plain\r\n\r\n"}) {
      assertThat(error(TYPE, "--B\r\n" + headers + "{}\r\n--B--"))
          .isEqualTo(new LectusError.UnsupportedMediaType("Content-Type must be application/json"));
    }
  }

  @Test
  void further_parts_follow_in_their_order() {
    String body = "--B\r\n" + HEADERS + "{}\r\n--B\r\n\r\nx\r\n--B  \r\nA: b\r\n\r\n\r\n--B--";

    for (int size : new int[] {1, 2, 5, Integer.MAX_VALUE}) {
      assertThat(parts(TYPE, body, size)).containsExactly("{}", "x", "");
    }
  }

  @Test
  void headers_are_bounded() {
    int most = PartStream.MAX_HEADER_BYTES - HEADERS.length() - "X: \r\n".length();
    String end = HEADERS + JSON + "\r\n--B--";

    assertThat(json(TYPE, "--B\r\nX: " + "y".repeat(most) + "\r\n" + end)).isEqualTo(JSON);
    assertThat(badRequest(TYPE, "--B\r\nX: " + "y".repeat(most + 1) + "\r\n" + end).reason())
        .contains("exceed 8192 bytes");
  }

  /** Every byte might begin a delimiter. */
  @Test
  void a_large_body_of_line_ends_is_searched_once() {
    String boundary = "-".repeat(69) + "B";
    byte[] body = new byte[8 << 20];
    Arrays.fill(body, (byte) '-');
    for (int i = 0; i < body.length - 1; i += 73) {
      body[i] = '\r';
      body[i + 1] = '\n';
    }
    byte[] head = ("--" + boundary + "\r\n" + HEADERS).getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(head, 0, body, 0, head.length);

    PartStream stream =
        RelatedDocument.of("multipart/related; boundary=" + boundary).parts(new Collected());
    stream.take(body);
    assertThatThrownBy(stream::end).hasMessageContaining("inside a part");
  }

  private static void assertBadRequest(String contentType, String body) {
    assertThat(badRequest(contentType, body).error()).isEqualTo("bad_request");
  }

  private static LectusError.BadRequest badRequest(String contentType, String body) {
    LectusError error = error(contentType, body);
    assertThat(error).as(contentType).isInstanceOf(LectusError.BadRequest.class);
    return (LectusError.BadRequest) error;
  }

  private static LectusError error(String contentType, String body) {
    try {
      throw new AssertionError("taken: " + json(contentType, body));
    } catch (LectusException refused) {
      return refused.error();
    }
  }
}
