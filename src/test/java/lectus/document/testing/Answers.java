package lectus.document.testing;

import lectus.document.PagedBody;
import lectus.json.JsonBuffer;

/** Answers that come in parts, put together. */
public final class Answers {
  private Answers() {}

  /** All parts of an answer, each in a buffer that something precedes. */
  public static String whole(PagedBody body) {
    StringBuilder answer = new StringBuilder();
    boolean more;
    do {
      JsonBuffer out = new JsonBuffer(64).ascii("#");
      more = body.appendNext(out);
      answer.append(out.toString().substring(1));
    } while (more);
    return answer.toString();
  }
}
