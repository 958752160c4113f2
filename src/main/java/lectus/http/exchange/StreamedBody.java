package lectus.http.exchange;

import java.util.Optional;
import lectus.document.PagedBody;
import lectus.http.message.EntityTag;
import lectus.http.message.Headers;

/**
 * A body of any length.
 *
 * @param contentType the value of its Content-Type
 * @param tag of the state that it shows or of an earlier one, for it is read before the body: a
 *     client with a tag that is too old asks once too often, one with a tag that is too new would
 *     never learn what it missed
 */
public record StreamedBody(CharSequence contentType, Optional<EntityTag> tag, PagedBody body) {

  /** JSON. */
  public StreamedBody(Optional<EntityTag> tag, PagedBody body) {
    this(Headers.JSON, tag, body);
  }

  static StreamedBody untagged(PagedBody body) {
    return new StreamedBody(Optional.empty(), body);
  }

  /** JSON. */
  public static StreamedBody tagged(String tag, PagedBody body) {
    return new StreamedBody(Optional.of(new EntityTag(tag)), body);
  }

  /** Of another type than JSON. */
  public static StreamedBody of(CharSequence contentType, PagedBody body) {
    return new StreamedBody(contentType, Optional.empty(), body);
  }
}
