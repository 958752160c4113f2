package lectus.http.message;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** A form as browsers send it with files, {@code multipart/form-data} (RFC 7578). */
public final class FormParts {
  public static final String MEDIA_TYPE = "multipart/form-data";

  private FormParts() {}

  /**
   * A field of the form.
   *
   * @param file the name of the file, if it is one
   * @param type the Content-Type, if the part says one
   */
  public record Field(String name, Optional<String> file, Optional<String> type) {}

  /**
   * Returns what finds the fields of a form.
   *
   * @param contentType of the request
   * @throws lectus.error.LectusException {@code bad_request}: no boundary
   */
  public static PartStream of(String contentType, PartStream.Parts parts) {
    return new PartStream(RelatedDocument.boundary(MEDIA_TYPE, contentType), parts);
  }

  /**
   * Returns the field that a part's headers describe. Browsers send names as UTF-8.
   *
   * @throws lectus.error.LectusException {@code bad_request}
   */
  public static Field field(String headers) {
    ReceivedHeaders read = ReceivedHeaders.of(headers);
    MediaType disposition = MediaType.parse(read.get("content-disposition").orElse(""));
    return new Field(
        utf8(disposition.parameters().getOrDefault("name", "")),
        Optional.ofNullable(disposition.parameters().get("filename")).map(FormParts::utf8),
        read.get("content-type"));
  }

  private static String utf8(String latin) {
    return new String(latin.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }
}
