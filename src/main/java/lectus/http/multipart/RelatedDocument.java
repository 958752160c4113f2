package lectus.http.multipart;

import java.util.Optional;
import java.util.regex.Pattern;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.message.MediaType;

/**
 * A document in the form {@code multipart/related}: its JSON is the first part, its attachments are
 * the others.
 */
public final class RelatedDocument {
  private static final String MEDIA_TYPE = "multipart/related";
  private static final String JSON = "application/json";

  /** RFC 2046: 1 to 70 of these characters, the last one not a space. */
  private static final Pattern BOUNDARY =
      Pattern.compile("[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]");

  private final String boundary;

  private RelatedDocument(String boundary) {
    this.boundary = boundary;
  }

  /**
   * @param contentType of the request; null if there is none
   * @return empty for another type
   * @throws LectusException {@code bad_request}: no boundary, or one that RFC 2046 does not allow
   */
  public static Optional<RelatedDocument> in(String contentType) {
    if (!MediaType.isNamed(MEDIA_TYPE, contentType)) {
      return Optional.empty();
    }
    return Optional.of(new RelatedDocument(boundary(MEDIA_TYPE, contentType)));
  }

  /** Returns the boundary that a Content-Type names. */
  static String boundary(String mediaType, String contentType) {
    String boundary = MediaType.parse(contentType).parameters().get("boundary");
    if (boundary == null || !BOUNDARY.matcher(boundary).matches()) {
      throw LectusException.badRequest(
          "The Content-Type " + mediaType + " needs a boundary of 1 to 70 characters.");
    }
    return boundary;
  }

  /** Returns what finds the parts. */
  public PartStream parts(PartStream.Parts parts) {
    return new PartStream(boundary, parts);
  }

  /**
   * Checks the headers of the first part.
   *
   * @throws LectusException {@code bad_request}; {@code bad_content_type} (415): it is not JSON
   */
  public static void checkJson(String headers) {
    String contentType = ReceivedHeaders.of(headers).get("content-type").orElse(null);
    if (!MediaType.isNamed(JSON, contentType)) {
      throw new LectusException(
          new LectusError.UnsupportedMediaType("Content-Type must be " + JSON));
    }
  }
}
