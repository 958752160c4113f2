package lectus.tidy;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Every package says what lives in it. */
class PackagesTest {
  private static final String INFO = "package-info";

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
