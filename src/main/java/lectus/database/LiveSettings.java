package lectus.database;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Function;
import lectus.database.SettingsSubspace.SettingName;
import lectus.store.RegularLook;

/**
 * What a server runs with: its configuration's settings, and in place of some those of the store.
 * The store is looked at again and again, so what one server of it changes, all others know within
 * half a second. While it does not answer, what was seen last remains. Thread-safe.
 *
 * @param <T> all settings that may change
 */
public final class LiveSettings<T> implements AutoCloseable {
  /** The rest of half a second is for the look itself. */
  private static final long LOOK_MILLIS = 400;

  private final StoredSettings stored;
  private final Function<Map<SettingName, Optional<String>>, T> plan;
  private final RegularLook looks = new RegularLook("lectus-settings", LOOK_MILLIS, this::look);
  private final List<BiConsumer<T, T>> listeners = new CopyOnWriteArrayList<>();
  private final T configured;
  private Map<SettingName, Optional<String>> seen = Map.of();
  private volatile T current;

  /**
   * @param plan what to run with when the store has these values, of which those that cannot be
   *     read are empty; none may make it fail
   */
  public LiveSettings(StoredSettings stored, Function<Map<SettingName, Optional<String>>, T> plan) {
    this.stored = stored;
    this.plan = plan;
    this.configured = plan.apply(Map.of());
    this.current = configured;
  }

  /** Looks now, which waits for the store, and from now on. */
  public LiveSettings<T> start() {
    looks.start();
    return this;
  }

  /** Returns what is in force. Never waits. */
  public T current() {
    return current;
  }

  /** Returns what is in force where the store says nothing. */
  public T configured() {
    return configured;
  }

  /** Calls {@code listener} with the former settings and the new ones after they have changed. */
  public void onChange(BiConsumer<T, T> listener) {
    listeners.add(listener);
  }

  /**
   * Sets a value, which is in force on this server when this returns. Waits for the store.
   *
   * @return the value that the store had
   * @throws lectus.error.LectusException as {@link StoredSettings#put}
   */
  public Optional<String> put(SettingName name, String text) {
    Optional<String> former = stored.put(name, text);
    look();
    return former;
  }

  /**
   * Leaves a setting to the configuration again, as {@link #put} sets it.
   *
   * @return the value that the store had
   */
  public Optional<String> remove(SettingName name) {
    Optional<String> former = stored.remove(name);
    look();
    return former;
  }

  /** One look at a time, so that none puts back what a later one has seen. */
  private synchronized void look() {
    Map<SettingName, Optional<String>> found = stored.all();
    if (!found.equals(seen)) {
      T former = current;
      current = plan.apply(found);
      seen = found;
      listeners.forEach(it -> it.accept(former, current));
    }
  }

  @Override
  public void close() {
    looks.close();
  }
}
