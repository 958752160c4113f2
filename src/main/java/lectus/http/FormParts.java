package lectus.http;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import lectus.error.LectusException;

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

  /**
   * The headers of a part that came.
   *
   * @param values by name in lower case; of equal names the last
   */
  record ReceivedHeaders(Map<String, String> values) {
    /** A line break within a header (RFC 822, section 3.1.1). */
    private static final Pattern FOLD = Pattern.compile("\r\n(?=[ \t])");

    /**
     * @throws LectusException {@code bad_request}
     */
    static ReceivedHeaders of(String headers) {
      Map<String, String> values = new HashMap<>();
      for (String line : FOLD.matcher(headers.stripTrailing()).replaceAll("").split("\r\n")) {
        int colon = line.indexOf(':');
        if (colon < 0 && !line.isEmpty()) {
          throw LectusException.badRequest("bad part header");
        }
        String name = line.substring(0, Math.max(colon, 0)).strip().toLowerCase(Locale.ROOT);
        values.put(name, line.substring(colon + 1).strip());
      }
      return new ReceivedHeaders(values);
    }

    Optional<String> get(String name) {
      return Optional.ofNullable(values.get(name));
    }
  }
}
