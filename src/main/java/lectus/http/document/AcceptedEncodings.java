package lectus.http.document;

import java.util.Locale;
import java.util.regex.Pattern;

/** The encodings that a client accepts (RFC 9110, section 12.5.3). */
final class AcceptedEncodings {
  private static final Pattern NEVER = Pattern.compile(";\\s*q\\s*=\\s*0(\\.0{0,3})?\\s*$");

  private AcceptedEncodings() {}

  /**
   * @param header the value of {@code Accept-Encoding}
   */
  static boolean include(String encoding, String header) {
    boolean any = false;
    for (String part : header.toLowerCase(Locale.ROOT).split(",")) {
      int semicolon = part.indexOf(';');
      String name = (semicolon < 0 ? part : part.substring(0, semicolon)).strip();
      boolean accepted = !NEVER.matcher(part).find();
      if (name.equals(encoding)) {
        return accepted;
      }
      any |= name.equals("*") && accepted;
    }
    return any;
  }
}
