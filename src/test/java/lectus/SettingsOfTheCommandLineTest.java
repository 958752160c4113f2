package lectus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import lectus.cli.Console;
import lectus.database.SettingsSubspace.SettingName;
import lectus.database.StoredSettings;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code lectus settings} on an embedded store. */
@Timeout(60)
final class SettingsOfTheCommandLineTest {
  @TempDir private Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int settings(String... args) {
    String[] all =
        Stream.concat(
                Stream.of("settings", "--data", folder.resolve("data").toString()), Stream.of(args))
            .toArray(String[]::new);
    return Lectus.run(all, Map.of(), new Console(new PrintWriter(out), new PrintWriter(err)));
  }

  private Map<SettingName, Optional<String>> stored() {
    try (Store store = EmbeddedStores.open(folder.resolve("data"))) {
      return new StoredSettings(store).all();
    }
  }

  @Test
  void a_setting_is_set_listed_and_deleted() {
    assertThat(settings("couch_httpd_auth/timeout", "77")).isZero();
    assertThat(settings("cors/origins", "*")).isZero();
    assertThat(settings()).isZero();
    assertThat(settings("chttpd_auth/timeout", "--delete")).isZero();
    assertThat(settings("--delete")).isZero();

    assertThat(out.toString().lines())
        .containsExactly(
            "chttpd_auth/timeout is 77 now.",
            "cors/origins is * now.",
            "chttpd_auth/timeout = 77",
            "cors/origins = *",
            "chttpd_auth/timeout is as configured now.",
            "cors/origins is as configured now.");
    assertThat(err.toString()).isEmpty();
    assertThat(stored()).isEmpty();
  }

  @Test
  void what_only_a_newer_version_knows_can_be_deleted() {
    try (Store store = EmbeddedStores.open(folder.resolve("data"))) {
      new StoredSettings(store).put(new SettingName("new", "setting"), "x");
    }

    assertThat(settings("new/setting", "--delete")).isZero();
    assertThat(stored()).isEmpty();
  }

  @Test
  void a_mistake_is_one_sentence() {
    assertThat(settings("cors/max_age", "x")).isEqualTo(1);
    assertThat(settings("cors/max_age")).isEqualTo(1);
    assertThat(settings("cors/max_age", "1", "--delete")).isEqualTo(1);
    assertThat(settings("cors/nothing", "1")).isEqualTo(1);
    assertThat(settings("nothing", "1")).isEqualTo(1);
    assertThat(settings("cors/max_age", "--delete")).isEqualTo(1);
    assertThat(settings("nothing", "--delete")).isEqualTo(1);

    assertThat(err.toString().lines())
        .containsExactly(
            "lectus: cors/max_age must be a whole number from 0 to 86400, not \"x\".",
            "lectus: A setting has a name and a value, or is deleted by its name.",
            "lectus: A setting has a name and a value, or is deleted by its name.",
            "lectus: There is no setting cors/nothing that can be changed.",
            "lectus: There is no setting nothing that can be changed.",
            "lectus: The store does not have cors/max_age.",
            "lectus: The store does not have nothing.");
    assertThat(stored()).isEmpty();
  }

  @Test
  void while_a_server_holds_the_store_it_is_said_what_helps() {
    try (Store held = EmbeddedStores.open(folder.resolve("data"))) {
      assertThat(held.isAlone()).isTrue();
      assertThat(settings("cors/max_age", "1")).isEqualTo(1);
    }
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(err.toString()).contains("/_node/_local/_config/SECTION/NAME");
  }
}
