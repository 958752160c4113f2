package lectus;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import lectus.http.message.Authority;

/**
 * One key of the configuration: its name, what it is when nobody sets it, and how its text becomes
 * a value.
 *
 * @param name as the configuration file has it, such as {@code cors.max-age}
 * @param fallback the default, as text
 * @param parser throws {@link IllegalArgumentException} whose message says what is wanted, such as
 *     "a whole number from 0 to 65535"
 */
record Key<T>(String name, String fallback, Function<String, T> parser) {

  static Key<String> text(String name, String fallback) {
    return new Key<>(name, fallback, text -> text);
  }

  static Key<Boolean> flag(String name) {
    return flag(name, false);
  }

  static Key<Boolean> flag(String name, boolean fallback) {
    return new Key<>(name, Boolean.toString(fallback), Key::parseFlag);
  }

  static Key<Integer> number(String name, int fallback, int least, int most) {
    return new Key<>(name, Integer.toString(fallback), text -> parseNumber(text, least, most));
  }

  /** A number that follows from others unless it is chosen; 0 stands for that. */
  static Key<Long> chosenNumber(String name, long least, long most) {
    return new Key<>(name, "0", text -> parseChosenNumber(text, least, most));
  }

  static Key<String> oneOf(String name, String fallback, List<String> choices) {
    return new Key<>(name, fallback, text -> parseChoice(text, choices));
  }

  /** Words between commas; none if the text is blank. */
  static Key<List<String>> words(String name, String fallback) {
    return new Key<>(name, fallback, Key::parseWords);
  }

  /** Names or addresses of hosts, without ports, between commas; none if the text is blank. */
  static Key<List<String>> hosts(String name, String fallback) {
    return new Key<>(name, fallback, Key::parseHosts);
  }

  /** Names between slashes, none of them empty. */
  static Key<List<String>> path(String name, String fallback) {
    return new Key<>(name, fallback, Key::parsePath);
  }

  /** The environment variable that sets this key: LECTUS_CORS_MAX_AGE. */
  String variable() {
    return "LECTUS_" + name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }

  private static Boolean parseFlag(String text) {
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("true or false");
    };
  }

  private static Integer parseNumber(String text, int least, int most) {
    IllegalArgumentException wanted =
        new IllegalArgumentException("a whole number from " + least + " to " + most);
    try {
      int number = Integer.parseInt(text);
      if (number < least || number > most) {
        throw wanted;
      }
      return number;
    } catch (NumberFormatException e) {
      throw wanted;
    }
  }

  private static Long parseChosenNumber(String text, long least, long most) {
    IllegalArgumentException wanted =
        new IllegalArgumentException("0 or a whole number from " + least + " to " + most);
    try {
      long number = Long.parseLong(text);
      if (number != 0 && (number < least || number > most)) {
        throw wanted;
      }
      return number;
    } catch (NumberFormatException e) {
      throw wanted;
    }
  }

  private static String parseChoice(String text, List<String> choices) {
    if (!choices.contains(text)) {
      throw new IllegalArgumentException(String.join(" or ", choices));
    }
    return text;
  }

  private static List<String> parsePath(String text) {
    List<String> names = List.of(text.split("/", -1));
    if (names.contains("")) {
      throw new IllegalArgumentException("names with slashes between them");
    }
    return names;
  }

  private static List<String> parseHosts(String text) {
    List<String> hosts = parseWords(text);
    if (!hosts.stream().allMatch(Key::isHost)) {
      throw new IllegalArgumentException("names of hosts without ports, with commas between them");
    }
    return hosts;
  }

  private static boolean isHost(String text) {
    return Authority.parse(text).filter(authority -> authority.port().isEmpty()).isPresent();
  }

  private static List<String> parseWords(String text) {
    return text.isBlank() ? List.of() : List.of(text.trim().split("\\s*,\\s*"));
  }
}
