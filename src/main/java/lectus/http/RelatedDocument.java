package lectus.http;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.FormParts.ReceivedHeaders;

/**
 * A document in the form {@code multipart/related}: its JSON is the first part, its attachments are
 * the others.
 */
public final class RelatedDocument {
  public static final String MEDIA_TYPE = "multipart/related";
  private static final String JSON = "application/json";

  /** RFC 2046: 1 to 70 of these characters, the last one not a space. */
  private static final Pattern BOUNDARY =
      Pattern.compile("[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]");

  private static final String FILE_NAME = "filename=";

  private final String boundary;

  private RelatedDocument(String boundary) {
    this.boundary = boundary;
  }

  /**
   * @param contentType of this media type
   * @throws LectusException {@code bad_request}: no boundary, or one that RFC 2046 does not allow
   */
  public static RelatedDocument of(String contentType) {
    return new RelatedDocument(boundary(MEDIA_TYPE, contentType));
  }

  static String boundary(String mediaType, String contentType) {
    String boundary = MediaType.parse(contentType).parameters().get("boundary");
    if (boundary == null || !BOUNDARY.matcher(boundary).matches()) {
      throw LectusException.badRequest(
          "The Content-Type " + mediaType + " needs a boundary of 1 to 70 characters.");
    }
    return boundary;
  }

  /**
   * Returns the names that an attachment's headers may mean by {@code filename}; none if they have
   * none. CouchDB does not escape the quotes in it.
   */
  public static Set<String> fileNames(String headers) {
    String line = ReceivedHeaders.of(headers).get("content-disposition").orElse("");
    int at = line.toLowerCase(Locale.ROOT).indexOf(FILE_NAME);
    if (at < 0) {
      return Set.of();
    }
    String value = Headers.text(line.substring(at + FILE_NAME.length()));
    if (!value.startsWith("\"")) {
      return Set.of(value.split("[;\\s]", 2)[0]);
    }
    int end = 1;
    while (end < value.length() && value.charAt(end) != '"') {
      end += value.charAt(end) == '\\' ? 2 : 1;
    }
    String longest = value.substring(1, Math.max(1, value.lastIndexOf('"')));
    String shortest = value.substring(1, Math.min(end, value.length()));
    return Stream.of(longest, shortest)
        .flatMap(name -> Stream.of(name, name.replaceAll("\\\\(.)", "$1")))
        .collect(Collectors.toSet());
  }

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
