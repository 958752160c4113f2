package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import lectus.error.StoreOpenException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Opens what is not a cluster, with the client library or, as on most machines, without it. */
@Timeout(30)
class FoundationDbStoreTest {
  private static final Duration ONE_SECOND = Duration.ofSeconds(1);

  @TempDir private Path folder;

  @Test
  void a_missing_cluster_file() {
    Path missing = folder.resolve("fdb.cluster");
    assertThat(failure(missing)).isEqualTo("The cluster file " + missing + " cannot be read.");
  }

  @Test
  void a_folder_is_no_cluster_file() {
    assertThat(failure(folder)).isEqualTo("The cluster file " + folder + " cannot be read.");
  }

  @Test
  void a_file_of_something_else() throws Exception {
    Path file = Files.writeString(folder.resolve("fdb.cluster"), "Dear reader,\n");
    assertThat(failure(file)).containsAnyOf("not installed", "is not a FoundationDB cluster file");
  }

  @Test
  void a_cluster_that_does_not_answer() throws Exception {
    Path file = Files.writeString(folder.resolve("fdb.cluster"), "nobody:home@127.0.0.1:1\n");
    assertThat(failure(file)).containsAnyOf("not installed", "does not answer within 1000 ms");
  }

  private static String failure(Path clusterFile) {
    StoreOpenException failure =
        catchThrowableOfType(
            StoreOpenException.class, () -> FoundationDbStore.open(clusterFile, ONE_SECOND));
    assertThat(failure).isNotNull();
    assertThat(failure.getMessage()).endsWith(".").doesNotContain("\n");
    return failure.getMessage();
  }
}
