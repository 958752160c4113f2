package lectus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every encoder of stored bytes has a table of exact bytes, and is listed in ARCHITECTURE.md. */
final class GoldenTablesTest {
  private static final Path TABLES = Path.of("src/test/resources/golden");
  private static final String SECTION = "## Key layout";
  private static final String NEXT_SECTION = "\n## ";

  /** A row whose last cell but one, or last cell, is the name of a class and nothing else. */
  private static final Pattern CLASS = Pattern.compile("\\| `([A-Z]\\w+)` \\|");

  @Test
  void the_key_layout_names_the_classes_that_have_golden_bytes() throws IOException {
    assertThat(tables()).isEqualTo(classes());
  }

  private static Set<String> tables() throws IOException {
    try (Stream<Path> files = Files.list(TABLES)) {
      return files
          .map(file -> file.getFileName().toString().replace(".txt", ""))
          .collect(Collectors.toSet());
    }
  }

  private static Set<String> classes() throws IOException {
    String text = Files.readString(Path.of("ARCHITECTURE.md"));
    int from = text.indexOf(SECTION);
    Matcher rows =
        CLASS.matcher(text.substring(from, text.indexOf(NEXT_SECTION, from + SECTION.length())));
    return rows.results().map(row -> row.group(1)).collect(Collectors.toSet());
  }
}
