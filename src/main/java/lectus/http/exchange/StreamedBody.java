package lectus.http.exchange;

import java.util.Optional;
import lectus.document.PagedBody;
import lectus.http.message.EntityTag;

/**
 * A body of any length.
 *
 * @param tag of the state that it shows or of an earlier one, for it is read before the body: a
 *     client with a tag that is too old asks once too often, one with a tag that is too new would
 *     never learn what it missed
 */
public record StreamedBody(Optional<EntityTag> tag, PagedBody body) {

  static StreamedBody untagged(PagedBody body) {
    return new StreamedBody(Optional.empty(), body);
  }

  public static StreamedBody tagged(String tag, PagedBody body) {
    return new StreamedBody(Optional.of(new EntityTag(tag)), body);
  }
}
