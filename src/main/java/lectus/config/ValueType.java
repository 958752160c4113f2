package lectus.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongPredicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import lectus.http.AddressRange;
import lectus.http.Authority;

/**
 * Which texts a key takes, and what they become.
 *
 * @param wanted says it, such as "a whole number from 0 to 65535"; empty where any text does
 * @param parse gives nothing for a text that the key does not take
 */
record ValueType<T>(String wanted, Function<String, Optional<T>> parse) {
  private static final Pattern SCHEMES = Pattern.compile("https?");
  private static final Pattern WHOLE = Pattern.compile("-?[0-9]{1,19}");
  private static final Pattern CLAIM = Pattern.compile("[^{}\"]+");
  private static final Pattern DECIMAL = Pattern.compile("[0-9]{1,9}(\\.[0-9]{1,17})?");

  /** Also of apps, of pages in a sandbox, and of files. */
  private static final Pattern ORIGIN =
      Pattern.compile("\\*|null|file://|[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9._~:\\[\\]-]+");

  /** With a port that browsers leave out. */
  private static final Pattern WITH_USUAL_PORT = Pattern.compile("http://.+:80|https://.+:443");

  private static final Pattern TOKEN = Pattern.compile("\\*|[A-Za-z0-9!#$%&'+.^_`|~-]+");
  private static final int LAST_PORT = 65_535;

  static final ValueType<String> TEXT = new ValueType<>("", Optional::of);

  /** In the environment a file may have it. */
  static final ValueType<String> SECRET = new ValueType<>("", Optional::of);

  static final ValueType<Boolean> FLAG = new ValueType<>("true or false", ValueType::parseFlag);

  /** Between commas; none if the text is blank. */
  static final ValueType<List<String>> WORDS =
      new ValueType<>("", text -> Optional.of(parseWords(text)));

  /** Of tokens, between commas, some with the values that they must have; none if it is blank. */
  static final ValueType<List<String>> CLAIMS =
      new ValueType<>(
          "claims such as exp or iss=name, with commas between them",
          text -> parseWords(text, CLAIM, UnaryOperator.identity()));

  /** Names or addresses of hosts, without ports, between commas; none if the text is blank. */
  static final ValueType<List<String>> HOSTS =
      new ValueType<>(
          "names of hosts without ports, with commas between them", ValueType::parseHosts);

  /** Addresses, and ranges of them, between commas; none if the text is blank. */
  static final ValueType<List<AddressRange>> ADDRESSES =
      new ValueType<>(
          "addresses such as 10.0.0.7, 10.0.0.0/8 or ::1, with commas between them",
          ValueType::parseAddresses);

  /** None of them empty. */
  static final ValueType<List<String>> PATH =
      new ValueType<>("names with slashes between them", ValueType::parsePath);

  /** Empty for none. */
  static final ValueType<Optional<URI>> URL =
      new ValueType<>("a URL that begins with http:// or https://, or empty", ValueType::parseUrl);

  /** As browsers send them; none if the text is blank. */
  static final ValueType<List<String>> ORIGINS =
      new ValueType<>(
          "* or origins such as https://app.example, without a path and without * in them, with"
              + " commas between them",
          text -> parseWords(text, ORIGIN, ValueType::asSent));

  /** Names in upper case; none if the text is blank. */
  static final ValueType<List<String>> METHODS = tokens(it -> it.toUpperCase(Locale.ROOT));

  /** Names in lower case; none if the text is blank. */
  static final ValueType<List<String>> HEADERS = tokens(it -> it.toLowerCase(Locale.ROOT));

  /** Empty for none. */
  static final ValueType<String> CHALLENGE =
      matching("a challenge such as Basic realm=\"server\", or empty", "([!-~]+( [ -~]*)?)?");

  /** Empty for none. */
  static final ValueType<String> DOMAIN = matching("a domain, or empty", "[A-Za-z0-9.-]*");

  /** Empty for none. After two slashes a browser expects the name of another server. */
  static final ValueType<String> PAGE =
      matching("a path that begins with one /, or empty", "(/(?![/\\\\])[!-~]*)?");

  static final ValueType<Double> SHARE =
      new ValueType<>("a number from 0 to 1", ValueType::parseShare);

  static ValueType<Integer> number(int least, int most) {
    return new ValueType<>(
        range(least, most),
        text ->
            parseNumber(text, number -> number >= least && number <= most).map(Math::toIntExact));
  }

  static ValueType<Long> longNumber(long least, long most) {
    return new ValueType<>(
        range(least, most), text -> parseNumber(text, number -> number >= least && number <= most));
  }

  /** A number that follows from others unless it is chosen; 0 stands for that. */
  static ValueType<Long> chosenNumber(long least, long most) {
    return new ValueType<>(
        "0 or " + range(least, most),
        text -> parseNumber(text, number -> number == 0 || (number >= least && number <= most)));
  }

  static ValueType<String> oneOf(List<String> choices) {
    return new ValueType<>(
        String.join(" or ", choices), text -> Optional.of(text).filter(choices::contains));
  }

  private static ValueType<List<String>> tokens(UnaryOperator<String> form) {
    return new ValueType<>(
        "* or names without spaces and without *, with commas between them",
        text -> parseWords(text, TOKEN, form));
  }

  private static ValueType<String> matching(String wanted, String pattern) {
    Pattern compiled = Pattern.compile(pattern);
    return new ValueType<>(
        wanted, text -> Optional.of(text).filter(it -> compiled.matcher(it).matches()));
  }

  private static String range(long least, long most) {
    return "a whole number from " + least + " to " + most;
  }

  private static Optional<Boolean> parseFlag(String text) {
    return switch (text) {
      case "true" -> Optional.of(true);
      case "false" -> Optional.of(false);
      default -> Optional.empty();
    };
  }

  private static Optional<Long> parseNumber(String text, LongPredicate isTaken) {
    if (!WHOLE.matcher(text).matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(Long.parseLong(text)).filter(isTaken::test);
    } catch (NumberFormatException beyondLong) {
      return Optional.empty();
    }
  }

  private static Optional<List<String>> parsePath(String text) {
    return Optional.of(List.of(text.split("/", -1))).filter(names -> !names.contains(""));
  }

  private static Optional<List<String>> parseHosts(String text) {
    return Optional.of(parseWords(text))
        .filter(hosts -> hosts.stream().allMatch(ValueType::isHost));
  }

  private static Optional<List<AddressRange>> parseAddresses(String text) {
    List<Optional<AddressRange>> ranges =
        parseWords(text).stream().map(AddressRange::parse).toList();
    return ranges.stream().allMatch(Optional::isPresent)
        ? Optional.of(ranges.stream().map(Optional::get).toList())
        : Optional.empty();
  }

  private static Optional<Optional<URI>> parseUrl(String text) {
    if (text.isEmpty()) {
      return Optional.of(Optional.empty());
    }
    try {
      return Optional.of(new URI(text)).filter(ValueType::isServer).map(Optional::of);
    } catch (URISyntaxException e) {
      return Optional.empty();
    }
  }

  private static boolean isServer(URI url) {
    return url.getScheme() != null
        && SCHEMES.matcher(url.getScheme()).matches()
        && url.getHost() != null
        && url.getUserInfo() == null
        && url.getFragment() == null
        && url.getPort() <= LAST_PORT;
  }

  private static Optional<Double> parseShare(String text) {
    return DECIMAL.matcher(text).matches()
        ? Optional.of(Double.parseDouble(text)).filter(share -> share <= 1)
        : Optional.empty();
  }

  private static boolean isHost(String text) {
    return Authority.parse(text).filter(authority -> authority.port().isEmpty()).isPresent();
  }

  private static String asSent(String origin) {
    String lower = origin.toLowerCase(Locale.ROOT);
    boolean usual = WITH_USUAL_PORT.matcher(lower).matches();
    return usual ? lower.substring(0, lower.lastIndexOf(':')) : lower;
  }

  private static Optional<List<String>> parseWords(
      String text, Pattern each, UnaryOperator<String> form) {
    return Optional.of(parseWords(text))
        .filter(words -> words.stream().allMatch(word -> each.matcher(word).matches()))
        .map(words -> words.stream().map(form).toList());
  }

  private static List<String> parseWords(String text) {
    return text.isBlank() ? List.of() : List.of(text.trim().split("\\s*,\\s*"));
  }
}
