package lectus.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Optional;
import lectus.database.SettingsSubspace.SettingName;
import lectus.error.LectusException;
import lectus.http.HttpSettings;
import lectus.http.ServedSettings;
import lectus.http.ServedSettings.SettingsPlan;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a store's settings make of a configuration. */
final class LiveConfigurationTest {
  private static final SettingName SIZE = name("chttpd/max_http_request_size");
  private static final SettingName LOCK = name("chttpd/require_valid_user");
  private static final SettingName CORS = name("chttpd/enable_cors");
  private static final SettingName ORIGINS = name("cors/origins");

  private final SettingsPlan large = plan(1L << 30, Map.of());

  private static SettingName name(String text) {
    return SettingName.parse(text).orElseThrow();
  }

  private static SettingsPlan plan(long heap, Map<String, String> configured) {
    Configuration configuration = Configuration.of(null, Map.of(), configured);
    return new Settings(configuration, new Machine(heap, 4L << 30, 2, 1 << 20));
  }

  private static HttpSettings http(SettingsPlan plan, Map<SettingName, Optional<String>> stored) {
    return plan.with(stored).http();
  }

  private static Map<SettingName, Optional<String>> of(SettingName name, String text) {
    return Map.of(name, Optional.of(text));
  }

  @Test
  void what_a_server_with_more_memory_took_leaves_a_smaller_one_within_its_own() {
    SettingsPlan small = plan(64L << 20, Map.of());
    String size = Integer.toString(100 << 20);
    large.check(SIZE, size);
    ServedSettings served = small.with(of(SIZE, size));

    assertThat(http(large, of(SIZE, size)).requests().maxRequestBytes()).isEqualTo(100 << 20);
    assertThat(served.http().requests().maxRequestBytes()).isEqualTo(100 << 20);
    assertThat(served.http().requests().maxHeldBytes()).isEqualTo(8 << 20);
    assertThat(served.texts()).containsExactly(Map.entry(SIZE, size));
    small.check(SIZE, size);
  }

  @ParameterizedTest
  @ValueSource(strings = {"134217729", "4294967296", "9223372036854775807"})
  void a_size_beyond_what_the_server_can_hold_is_shown_as_set_and_never_in_force(String size) {
    SettingName documents = name("couchdb/max_document_size");
    large.check(SIZE, size);
    large.check(documents, size);

    ServedSettings served =
        large.with(Map.of(SIZE, Optional.of(size), documents, Optional.of(size)));

    assertThat(served.http().requests().maxHeldBytes()).isEqualTo(128 << 20);
    assertThat(served.documents().json().documentBytes()).isEqualTo(9_300_000);
    assertThat(served.texts()).containsEntry(SIZE, size).containsEntry(documents, size);
  }

  @ParameterizedTest
  @ValueSource(strings = {"9223372036854775808", "1023", "-1", "", "4 GB", "1e9", "infinity"})
  void what_is_no_size_is_refused(String size) {
    assertThatThrownBy(() -> large.check(SIZE, size))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("a whole number from 1024 to 9223372036854775807");
    assertThat(large.with(of(SIZE, size)).texts()).isEmpty();
    assertThat(http(large, of(SIZE, size)).requests().maxRequestBytes()).isEqualTo(4L << 30);
  }

  @Test
  void what_is_stored_wins_and_what_is_not_is_as_configured() {
    SettingsPlan plan =
        plan(1 << 30, Map.of("cors.origins", "https://a", "access.cookie-seconds", "5"));

    HttpSettings http = http(plan, of(ORIGINS, "https://b"));

    assertThat(http.cors().origins()).containsExactly("https://b");
    assertThat(http.cors().enabled()).isTrue();
    assertThat(http.access().cookies().seconds()).isEqualTo(5);
    assertThat(http(plan, of(CORS, "false")).cors().enabled()).isFalse();
  }

  @Test
  void origins_alone_do_not_switch_cors_on() {
    assertThat(http(large, of(ORIGINS, "*")).cors().enabled()).isFalse();
    assertThat(http(large, of(CORS, "true")).cors().enabled()).isTrue();
  }

  @Test
  void what_is_of_no_use_is_taken_for_what_is_safe() {
    assertThat(http(large, Map.of(LOCK, Optional.empty())).access().requiresValidUser()).isTrue();
    assertThat(http(large, of(LOCK, "perhaps")).access().requiresValidUser()).isTrue();
    SettingsPlan open = plan(1 << 30, Map.of("cors.origins", "https://a"));
    assertThat(http(open, Map.of(CORS, Optional.empty())).cors().enabled()).isFalse();
    assertThat(http(open, Map.of(ORIGINS, Optional.empty())).cors().origins()).isEmpty();
    assertThat(http(large, of(SIZE, "x")).requests().maxRequestBytes()).isEqualTo(4L << 30);
    assertThat(large.with(of(name("new/setting"), "x")).texts()).isEmpty();
  }

  @Test
  void a_long_value_is_not_repeated() {
    assertThatThrownBy(() -> large.check(LOCK, "x".repeat(101)))
        .hasMessageEndingWith("must be true or false.");
    assertThatThrownBy(() -> large.check(LOCK, "x".repeat(100))).hasMessageEndingWith("xx\".");
  }
}
