package lectus.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import lectus.database.SettingsSubspace.SettingName;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Settings in the store, and what servers know of them. */
final class StoredSettingsTest {
  private static final SettingName ORIGINS = new SettingName("cors", "origins");
  private static final SettingName MAX_AGE = new SettingName("cors", "max_age");

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final StoredSettings stored = new StoredSettings(store);

  private LiveSettings<Map<SettingName, Optional<String>>> server() {
    return new LiveSettings<Map<SettingName, Optional<String>>>(stored, Map::copyOf).start();
  }

  private static LectusError refused(ThrowingCallable call) {
    LectusError[] error = new LectusError[1];
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(LectusException.class, it -> error[0] = it.error());
    return error[0];
  }

  @Test
  void a_setting_is_put_replaced_and_removed() {
    assertThat(stored.put(ORIGINS, "*")).isEmpty();
    assertThat(stored.put(ORIGINS, "")).contains("*");
    assertThat(stored.put(MAX_AGE, "5")).isEmpty();
    assertThat(stored.all().toString())
        .isEqualTo("{cors/max_age=Optional[5], cors/origins=Optional[]}");
    assertThat(stored.remove(ORIGINS)).contains("");
    assertThat(stored.remove(ORIGINS)).isEmpty();
    assertThat(new StoredSettings(store).all()).containsOnlyKeys(MAX_AGE);
  }

  @Test
  void names_and_values_have_limits() {
    String name = "é".repeat(StoredSettings.MAX_NAME_BYTES / 2);
    String text = "é".repeat(StoredSettings.MAX_TEXT_BYTES / 2);

    assertThat(stored.put(new SettingName(name, name), text)).isEmpty();
    assertThat(refused(() -> stored.put(new SettingName(name + "x", "x"), "x")).reason())
        .isEqualTo("The section of a setting has 128 bytes at most.");
    assertThat(refused(() -> stored.put(new SettingName("x", name + "x"), "x")).reason())
        .isEqualTo("The name of a setting has 128 bytes at most.");
    assertThat(refused(() -> stored.put(ORIGINS, text + "x")).reason())
        .isEqualTo("The value of a setting has 8192 bytes at most.");
    assertThat(stored.all()).hasSize(1);
  }

  @Test
  void there_are_not_too_many() {
    for (int i = 0; i < StoredSettings.MOST; i++) {
      stored.put(new SettingName("x", Integer.toString(i)), "");
    }
    assertThat(refused(() -> stored.put(ORIGINS, ""))).isInstanceOf(LectusError.Forbidden.class);
    assertThat(stored.put(new SettingName("x", "0"), "again")).contains("");
    stored.remove(new SettingName("x", "1"));
    assertThat(stored.put(ORIGINS, "")).isEmpty();
  }

  @Test
  void what_one_server_sets_it_knows_at_once_and_others_soon() throws Exception {
    stored.put(MAX_AGE, "1");
    try (LiveSettings<Map<SettingName, Optional<String>>> one = server();
        LiveSettings<Map<SettingName, Optional<String>>> other = server()) {
      assertThat(other.current()).containsOnlyKeys(MAX_AGE);
      assertThat(other.configured()).isEmpty();
      List<String> heard = new CopyOnWriteArrayList<>();
      other.onChange((before, now) -> heard.add(before.size() + " then " + now.size()));

      assertThat(one.put(ORIGINS, "*")).isEmpty();

      assertThat(one.current()).containsEntry(ORIGINS, Optional.of("*"));
      Await.until("one change is heard", () -> heard.size() == 1);
      assertThat(one.remove(ORIGINS)).contains("*");
      assertThat(one.current()).containsOnlyKeys(MAX_AGE);
      Await.until("two are heard", () -> heard.size() == 2);
      assertThat(other.current()).containsOnlyKeys(MAX_AGE);
      assertThat(heard).containsExactly("1 then 2", "2 then 1");
    }
  }

  @Test
  void many_who_set_at_once_leave_all_servers_with_the_stores_value() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (LiveSettings<Map<SettingName, Optional<String>>> one = server();
        LiveSettings<Map<SettingName, Optional<String>>> other = server()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        String text = Integer.toString(i);
        LiveSettings<?> server = i % 2 == 0 ? one : other;
        running.add(threads.submit(() -> server.put(ORIGINS, text)));
      }
      for (Future<?> each : running) {
        each.get();
      }
      Optional<String> last = stored.all().get(ORIGINS);
      for (LiveSettings<Map<SettingName, Optional<String>>> server : List.of(one, other)) {
        Await.until("it has the last value", () -> server.current().get(ORIGINS).equals(last));
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void what_a_newer_version_wrote_is_there_without_a_value() {
    stored.put(MAX_AGE, "1");
    byte[] newer = {0x15, 2, 2, 'x', 0};
    Awaiting.await(
        store
            .database()
            .runAsync(
                tx -> {
                  tx.set(new SettingsSubspace(store.rootPrefix()).key(ORIGINS), newer);
                  return CompletableFuture.completedFuture(null);
                }));

    assertThat(stored.all()).containsEntry(ORIGINS, Optional.empty()).hasSize(2);
    assertThat(stored.put(ORIGINS, "*")).isEmpty();
    assertThat(stored.all()).containsEntry(ORIGINS, Optional.of("*"));
  }

  @Test
  void a_name_is_written_with_a_slash() {
    assertThat(SettingName.parse("cors/origins")).contains(ORIGINS);
    assertThat(SettingName.parse("a/b/c")).contains(new SettingName("a", "b/c"));
    for (String none : new String[] {"", "cors", "/origins", "cors/", "/"}) {
      assertThat(SettingName.parse(none)).isEmpty();
    }
  }
}
