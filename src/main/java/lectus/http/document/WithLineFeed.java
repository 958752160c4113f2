package lectus.http.document;

import lectus.document.PagedBody;
import lectus.json.JsonBuffer;

/** A body with the line feed that every answer ends with. */
record WithLineFeed(PagedBody body) implements PagedBody {
  @Override
  public boolean appendNext(JsonBuffer out) {
    boolean more = body.appendNext(out);
    if (!more) {
      out.octet('\n');
    }
    return more;
  }
}
