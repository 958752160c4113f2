package lectus.http;

import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The encodings that a client accepts (RFC 9110, section 12.5.3). */
public final class AcceptedEncodings {
  private static final Pattern WEIGHT = Pattern.compile(";\\s*q\\s*=\\s*([01](\\.\\d{0,3})?)\\s*$");

  private final String[] parts;

  private AcceptedEncodings(String[] parts) {
    this.parts = parts;
  }

  /**
   * @param headers the values of {@code Accept-Encoding}; none: nothing but the content as it is
   */
  public static AcceptedEncodings of(List<String> headers) {
    return new AcceptedEncodings(String.join(",", headers).toLowerCase(Locale.ROOT).split(","));
  }

  /** Whether content may come in an encoding. */
  public boolean include(String encoding) {
    return weight(encoding) > 0;
  }

  /** Whether content may come in an encoding, and the client likes it no less as it is. */
  public boolean prefer(String encoding) {
    double weight = weight(encoding);
    return weight > 0 && weight >= named("identity").orElse(0);
  }

  private double weight(String encoding) {
    OptionalDouble weight = named(encoding);
    return weight.isPresent() ? weight.getAsDouble() : named("*").orElse(0);
  }

  private OptionalDouble named(String encoding) {
    for (String part : parts) {
      int semicolon = part.indexOf(';');
      String name = (semicolon < 0 ? part : part.substring(0, semicolon)).strip();
      if (name.equals(encoding)) {
        return OptionalDouble.of(semicolon < 0 ? 1 : weightIn(part));
      }
    }
    return OptionalDouble.empty();
  }

  private static double weightIn(String part) {
    Matcher weight = WEIGHT.matcher(part);
    return weight.find() ? Double.parseDouble(weight.group(1)) : 1;
  }
}
