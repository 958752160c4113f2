package lectus.attachment;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Which attachments are stored compressed, as CouchDB decides: by their types.
 *
 * @param level 1 to 9; 0 for none
 * @param types patterns such as {@code text/*}
 */
public record Compression(int level, List<Pattern> types) {
  public static final Compression NONE = new Compression(0, List.of());

  /**
   * @param types separated by commas, with {@code *} for anything
   */
  public static Compression of(int level, List<String> types) {
    return new Compression(level, types.stream().map(Compression::pattern).toList());
  }

  private static Pattern pattern(String type) {
    String[] parts = type.strip().toLowerCase(Locale.ROOT).split("\\*", -1);
    StringBuilder pattern = new StringBuilder();
    for (int i = 0; i < parts.length; i++) {
      pattern.append(i == 0 ? "" : ".*").append(Pattern.quote(parts[i]));
    }
    return Pattern.compile(pattern.toString(), Pattern.DOTALL);
  }

  /** Whether an attachment of this type is compressed. */
  boolean concerns(String type) {
    int semicolon = type.indexOf(';');
    String bare = (semicolon < 0 ? type : type.substring(0, semicolon)).strip();
    String lower = bare.toLowerCase(Locale.ROOT);
    return level > 0 && types.stream().anyMatch(it -> it.matcher(lower).matches());
  }
}
