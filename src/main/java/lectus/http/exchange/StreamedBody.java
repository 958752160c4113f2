package lectus.http.exchange;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import lectus.document.PagedBody;
import lectus.http.EntityTag;
import lectus.http.Headers;
import lectus.http.Reply;

/**
 * A body of any length.
 *
 * @param status of the answer
 * @param contentType the value of its Content-Type
 * @param knownTag of the state that it shows or of an earlier one: a client whose tag is too old
 *     asks once too often, one whose tag is too new would never learn what it missed. Some tags are
 *     known before the body's first part is read, others with it.
 * @param headers in addition to those that every answer has
 * @param length in bytes, where it is known beforehand
 */
public record StreamedBody(
    int status,
    CharSequence contentType,
    Supplier<Optional<EntityTag>> knownTag,
    List<Reply.Header> headers,
    OptionalLong length,
    PagedBody body) {
  private static final int OK = 200;

  /** A body of JSON. */
  public StreamedBody(Optional<EntityTag> tag, PagedBody body) {
    this(() -> tag, body);
  }

  /** A body of JSON. */
  public StreamedBody(Supplier<Optional<EntityTag>> knownTag, PagedBody body) {
    this(OK, Headers.JSON, knownTag, List.of(), OptionalLong.empty(), body);
  }

  static StreamedBody untagged(PagedBody body) {
    return new StreamedBody(Optional.empty(), body);
  }

  /** A body of JSON. */
  public static StreamedBody tagged(String tag, PagedBody body) {
    return new StreamedBody(Optional.of(new EntityTag(tag)), body);
  }

  /** A body of another type than JSON. */
  public static StreamedBody of(CharSequence contentType, PagedBody body) {
    return new StreamedBody(
        OK, contentType, Optional::empty, List.of(), OptionalLong.empty(), body);
  }

  /**
   * A body whose length is known.
   *
   * @param length in bytes
   * @param headers of the answer; a tag is one of them
   */
  public static StreamedBody ofLength(
      long length, CharSequence contentType, List<Reply.Header> headers, PagedBody body) {
    return new StreamedBody(
        OK, contentType, Optional::empty, headers, OptionalLong.of(length), body);
  }

  /** Returns the body with headers in addition to those that it has. */
  public StreamedBody with(List<Reply.Header> more) {
    List<Reply.Header> all = new ArrayList<>(headers);
    all.addAll(more);
    return new StreamedBody(status, contentType, knownTag, all, length, body);
  }

  /** Returns the body as an answer of another status. */
  public StreamedBody withStatus(int other) {
    return new StreamedBody(other, contentType, knownTag, headers, length, body);
  }
}
