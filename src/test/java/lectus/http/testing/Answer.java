package lectus.http.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;

/**
 * An answer, byte for byte.
 *
 * @param reason the phrase after the status
 * @param headers by lower-case name
 * @param body without its transfer encoding, as UTF-8
 */
public record Answer(int status, String reason, Map<String, List<String>> headers, String body) {

  /** Returns itself, if it has that status. */
  public Answer expect(int expected) {
    assertThat(status).as(body).isEqualTo(expected);
    return this;
  }

  /** Returns itself, if it has that status and exactly that body. */
  public Answer expect(int expected, String expectedBody) {
    return expect(expected).expect(expectedBody);
  }

  /** Returns itself, if it has exactly that body. */
  public Answer expect(String expectedBody) {
    assertThat(body).isEqualTo(expectedBody);
    return this;
  }

  /** Returns the only value of a header; null if absent. */
  public String header(String lowerCaseName) {
    List<String> values = headers.get(lowerCaseName);
    if (values == null) {
      return null;
    }
    if (values.size() != 1) {
      throw new IllegalStateException(lowerCaseName + " comes more than once: " + values);
    }
    return values.get(0);
  }

  public boolean isChunked() {
    return "chunked".equals(header("transfer-encoding"));
  }

  /** Returns the text between {@code "name":"} and the next quote. */
  public String member(String name) {
    String start = '"' + name + "\":\"";
    int from = body.indexOf(start) + start.length();
    if (from < start.length()) {
      throw new IllegalStateException("No member " + name + " in " + body);
    }
    return body.substring(from, body.indexOf('"', from));
  }
}
