package lectus.document.testing;

import lectus.document.PagedBody;
import lectus.json.JsonBuffer;

/** Joins answers that come in parts. */
public final class Answers {
  private Answers() {}

  /** Returns all parts of an answer, each written to a buffer that is not empty. */
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
