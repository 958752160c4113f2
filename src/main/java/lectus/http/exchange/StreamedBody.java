package lectus.http.exchange;

import java.util.Optional;
import java.util.function.Supplier;
import lectus.document.PagedBody;
import lectus.http.message.EntityTag;
import lectus.http.message.Headers;

/**
 * A body of any length.
 *
 * @param contentType the value of its Content-Type
 * @param knownTag of the state that it shows or of an earlier one: a client whose tag is too old
 *     asks once too often, one whose tag is too new would never learn what it missed. Some tags are
 *     known before the body's first part is read, others with it.
 */
public record StreamedBody(
    CharSequence contentType, Supplier<Optional<EntityTag>> knownTag, PagedBody body) {

  /** A body of JSON. */
  public StreamedBody(Optional<EntityTag> tag, PagedBody body) {
    this(Headers.JSON, () -> tag, body);
  }

  /** A body of JSON. */
  public StreamedBody(Supplier<Optional<EntityTag>> knownTag, PagedBody body) {
    this(Headers.JSON, knownTag, body);
  }

  Optional<EntityTag> tag() {
    return knownTag.get();
  }

  static StreamedBody untagged(PagedBody body) {
    return new StreamedBody(Headers.JSON, Optional::empty, body);
  }

  /** A body of JSON. */
  public static StreamedBody tagged(String tag, PagedBody body) {
    return new StreamedBody(Optional.of(new EntityTag(tag)), body);
  }

  /** A body of another type than JSON. */
  public static StreamedBody of(CharSequence contentType, PagedBody body) {
    return new StreamedBody(contentType, Optional::empty, body);
  }
}
