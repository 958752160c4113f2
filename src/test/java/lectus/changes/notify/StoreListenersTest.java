package lectus.changes.notify;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import lectus.changes.page.DatabaseNotifications.StoreListener;
import lectus.changes.page.DatabaseNotifications.WantedDatabases;
import lectus.changes.page.Registration;
import lectus.database.DatabaseName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The index of listeners finds exactly those that matching each of them finds. */
final class StoreListenersTest {
  private final StoreListeners index = new StoreListeners();

  /** A listener's patterns, as regular expressions. */
  private record Naive(List<Pattern> patterns, StoreListener listener, Registration registration) {
    boolean wants(DatabaseName name) {
      return patterns.stream().anyMatch(pattern -> pattern.matcher(name.text()).matches());
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void it_finds_whom_a_look_at_each_finds(long seed) {
    Random random = new Random(seed);
    List<Naive> listeners = new ArrayList<>();
    for (int round = 0; round < 300; round++) {
      if (random.nextInt(3) > 0 || listeners.isEmpty()) {
        listeners.add(register(random));
      } else {
        Naive left = listeners.remove(random.nextInt(listeners.size()));
        left.registration.close();
        left.registration.close();
      }
      for (int i = 0; i < 10; i++) {
        DatabaseName name = DatabaseName.of("a" + text(random, "ab/", random.nextInt(6)));
        assertThat(new HashSet<>(index.of(name))).as(name.text()).isEqualTo(of(listeners, name));
      }
    }
    assertThat(index.all()).hasSameSizeAs(listeners);
    listeners.forEach(listener -> listener.registration.close());
    assertThat(index.all.isEmpty()).isTrue();
    assertThat(index.of(DatabaseName.of("a"))).isEmpty();
  }

  private static Set<StoreListener> of(List<Naive> listeners, DatabaseName name) {
    return listeners.stream()
        .filter(listener -> listener.wants(name))
        .map(Naive::listener)
        .collect(Collectors.toSet());
  }

  private Naive register(Random random) {
    Set<DatabaseName> names = new HashSet<>();
    Set<String> heads = new HashSet<>();
    List<Pattern> starred = new ArrayList<>();
    List<Pattern> all = new ArrayList<>();
    for (int i = random.nextInt(4); i >= 0; i--) {
      if (random.nextBoolean()) {
        String name = "a" + text(random, "ab/", random.nextInt(6));
        names.add(DatabaseName.of(name));
        all.add(Pattern.compile(Pattern.quote(name)));
      } else {
        String head = random.nextInt(5) == 0 ? "" : "a" + text(random, "ab/", random.nextInt(4));
        String tail = text(random, "ab/", random.nextInt(2));
        heads.add(head);
        starred.add(Pattern.compile(Pattern.quote(head) + ".*" + Pattern.quote(tail)));
      }
    }
    all.addAll(starred);
    WantedDatabases wanted =
        new WantedDatabases(
            names,
            heads,
            name -> starred.stream().anyMatch(pattern -> pattern.matcher(name.text()).matches()));
    StoreListener listener =
        level -> {
          throw new AssertionError("Nobody is told of anything here, least of all of " + all);
        };
    return new Naive(all, listener, index.add(wanted, listener));
  }

  private static String text(Random random, String alphabet, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return text.toString();
  }
}
