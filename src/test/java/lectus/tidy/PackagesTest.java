package lectus.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Every package says what lives in it, and what does not. */
class PackagesTest {
  private static final String INFO = "package-info";

  /** How a package-info says what lives elsewhere: by a word that excludes it. */
  private static final String EXCLUDES =
      "(?si).*\\b(no|not|none|nothing|nobody|neither|nor|never|without|alone|elsewhere"
          + "|above|below|further up|is for|belongs? to)\\b.*";

  @Test
  void each_says_what_lives_there_and_what_does_not() throws IOException {
    List<String> found = new ArrayList<>();
    for (Source source : Sources.MAIN) {
      if (source.name().equals(INFO)) {
        String comment = Files.readString(source.path()).replaceFirst("(?s)\\*/.*", "");
        if (!comment.matches(EXCLUDES)) {
          found.add(source.packageName());
        }
      }
    }
    assertThat(found).isEmpty();
  }

  @Test
  void each_has_a_package_info() {
    assertThat(packages(true)).isEqualTo(packages(false));
  }

  @Test
  void those_of_the_table_in_architecture_md_are_those_of_the_tree() {
    assertThat(new TreeSet<>(PackageTable.read().keySet())).isEqualTo(packages(false));
  }

  private static Set<String> packages(boolean withInfo) {
    Map<Path, String> folders =
        Sources.MAIN.stream()
            .filter(source -> !withInfo || source.name().equals(INFO))
            .collect(
                Collectors.toMap(
                    source -> source.path().getParent(), Source::packageName, (one, other) -> one));
    return new TreeSet<>(folders.values());
  }
}
