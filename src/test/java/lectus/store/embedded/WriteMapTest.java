package lectus.store.embedded;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.MutationType;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import lectus.store.embedded.OwnWrites.KeyState;
import lectus.store.embedded.OwnWrites.WriteMap;
import lectus.store.embedded.engine.AtomicOperations;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import lectus.store.embedded.engine.CommitRequest.Mutation;
import org.junit.jupiter.api.Test;

final class WriteMapTest {
  private final WriteMap map = new WriteMap();

  private static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }

  private List<String> storedParts(String begin, String end) {
    List<String> parts = new ArrayList<>();
    map.storedParts(
        bytes(begin),
        bytes(end),
        (from, to) -> parts.add(new String(from, ISO_8859_1) + ".." + new String(to, ISO_8859_1)));
    return parts;
  }

  private List<String> mutations() {
    return map.mutations().stream().map(WriteMapTest::text).toList();
  }

  private static String text(Mutation mutation) {
    if (mutation instanceof Mutation.Set set) {
      return text(set.key()) + "=" + text(set.value());
    }
    if (mutation instanceof Mutation.Clear clear) {
      return "clear " + text(clear.begin()) + ".." + text(clear.end());
    }
    Mutation.Atomic atomic = (Mutation.Atomic) mutation;
    return atomic.type() + " " + text(atomic.key()) + "=" + text(atomic.operand());
  }

  private static String text(byte[] bytes) {
    return new String(bytes, ISO_8859_1);
  }

  @Test
  void of_a_read_range_own_sets_and_clears_are_not_the_stores() {
    map.set(bytes("c"), bytes("1"));
    map.clear(bytes("m"), bytes("p"));

    assertThat(storedParts("a", "z")).containsExactly("a..c", "c\0..m", "p..z");
  }

  @Test
  void a_clear_that_reaches_in_from_outside_is_cut() {
    map.clear(bytes("a"), bytes("f"));
    map.clear(bytes("x"), bytes("z"));

    assertThat(storedParts("c", "y")).containsExactly("f..x");
  }

  @Test
  void dependent_keys_are_the_stores() {
    map.mutate(MutationType.ADD, bytes("c"), bytes("1"));

    assertThat(storedParts("a", "z")).containsExactly("a..z");
  }

  @Test
  void an_atomic_operation_over_a_clear_is_independent() {
    map.clear(bytes("a"), bytes("z"));
    map.mutate(MutationType.APPEND_IF_FITS, bytes("c"), bytes("1"));

    assertThat(storedParts("a", "z")).isEmpty();
    assertThat(map.states.get(bytes("c")).isDependent()).isFalse();
    assertThat(map.states.get(bytes("c")).over(null)).isEqualTo(bytes("1"));
  }

  @Test
  void mutations_of_one_key_are_joined_where_they_can_be() {
    map.mutate(MutationType.ADD, bytes("a"), new byte[] {1});
    map.mutate(MutationType.ADD, bytes("a"), new byte[] {2});
    map.set(bytes("b"), bytes("1"));
    map.set(bytes("b"), bytes("2"));
    map.mutate(MutationType.APPEND_IF_FITS, bytes("b"), bytes("3"));

    assertThat(mutations()).containsExactly("ADD a=\3", "b=23");
  }

  @Test
  void operands_of_other_lengths_are_not_joined() {
    map.mutate(MutationType.ADD, bytes("a"), new byte[] {1});
    map.mutate(MutationType.ADD, bytes("a"), new byte[] {2, 0});

    assertThat(mutations()).containsExactly("ADD a=\1", "ADD a=\2\0");
  }

  @Test
  void clears_come_before_what_was_written_over_them() {
    map.clear(bytes("a"), bytes("d"));
    map.set(bytes("b"), bytes("1"));

    assertThat(mutations()).containsExactly("clear a..d", "b=1");
  }

  @Test
  void a_key_with_a_versionstamped_value_is_unreadable_until_it_is_cleared() {
    map.mutate(MutationType.SET_VERSIONSTAMPED_VALUE, bytes("a"), new byte[14]);
    assertThat(map.isUnreadable(bytes("a"))).isTrue();

    map.set(bytes("a"), bytes("1"));
    assertThat(map.isUnreadable(bytes("a"))).isTrue();

    map.clear(bytes("a"), bytes("a\0"));
    assertThat(map.isUnreadable(bytes("a"))).isFalse();
    assertThat(mutations()).containsExactly("clear a..a\0");
  }

  @Test
  void the_place_of_a_versionstamped_key_is_unreadable_with_what_was_in_it() {
    map.set(bytes("e"), bytes("1"));

    map.mutateStampedKey(bytes("f"), bytes("v"), new KeyRange(bytes("d"), bytes("h")));

    assertThat(map.isUnreadable(bytes("e"))).isTrue();
    assertThat(map.isUnreadable(bytes("c"))).isFalse();
    assertThat(map.isUnreadable(bytes("h"))).isFalse();
    assertThat(mutations()).containsExactly("e=1", "SET_VERSIONSTAMPED_KEY f=v");
  }

  @Test
  void a_clear_over_its_template_drops_a_versionstamped_key() {
    map.mutateStampedKey(bytes("f"), bytes("v"), new KeyRange(bytes("d"), bytes("h")));

    map.clear(bytes("a"), bytes("z"));

    assertThat(map.isUnreadable(bytes("e"))).isFalse();
    assertThat(mutations()).containsExactly("clear a..z");
  }

  /** Compares random writes with plain maps of values, dependent keys and stored rows. */
  @Test
  void shows_what_the_writes_make_of_the_store() {
    for (int seed = 0; seed < 500; seed++) {
      new Model(seed).run();
    }
  }

  private static final class Model {
    private static final String KEYS = "abcdefgh";
    private static final MutationType[] ATOMICS = {
      MutationType.ADD,
      MutationType.BYTE_MAX,
      MutationType.MIN,
      MutationType.APPEND_IF_FITS,
      MutationType.COMPARE_AND_CLEAR,
      MutationType.BIT_XOR
    };

    private final int seed;
    private final Random random;
    private final WriteMap map = new WriteMap();
    private final TreeMap<String, byte[]> stored = new TreeMap<>();
    private final TreeMap<String, byte[]> values = new TreeMap<>();
    private final TreeSet<String> independent = new TreeSet<>();

    Model(int seed) {
      this.seed = seed;
      random = new Random(seed);
    }

    void run() {
      for (int i = 0; i < 4; i++) {
        stored.put(key(), operand());
      }
      values.putAll(stored);
      for (int step = 0; step < 12; step++) {
        write();
        check();
      }
    }

    private String key() {
      return String.valueOf(KEYS.charAt(random.nextInt(KEYS.length())));
    }

    private byte[] operand() {
      byte[] operand = new byte[random.nextInt(3)];
      random.nextBytes(operand);
      return operand;
    }

    private void write() {
      String key = key();
      byte[] operand = operand();
      switch (random.nextInt(4)) {
        case 0 -> {
          map.set(bytes(key), operand);
          values.put(key, operand);
          independent.add(key);
        }
        case 1 -> {
          String end = key() + "\0";
          if (key.compareTo(end) < 0) {
            map.clear(bytes(key), bytes(end));
            values.subMap(key, end).clear();
            for (char c = key.charAt(0); String.valueOf(c).compareTo(end) < 0; c++) {
              independent.add(String.valueOf(c));
            }
          }
        }
        default -> {
          MutationType type = ATOMICS[random.nextInt(ATOMICS.length)];
          map.mutate(type, bytes(key), operand);
          put(key, AtomicOperations.apply(type, values.get(key), operand));
        }
      }
    }

    private void put(String key, byte[] value) {
      if (value == null) {
        values.remove(key);
      } else {
        values.put(key, value);
      }
    }

    private void check() {
      for (char c : KEYS.toCharArray()) {
        String key = String.valueOf(c);
        assertThat(visible(key)).as("seed %d, key %s", seed, key).isEqualTo(values.get(key));
        List<String> parts = new ArrayList<>();
        map.storedParts(bytes(key), bytes(key + "\0"), (from, to) -> parts.add(text(from)));
        assertThat(parts.isEmpty())
            .as("seed %d, key %s", seed, key)
            .isEqualTo(independent.contains(key));
      }
    }

    private byte[] visible(String key) {
      KeyState state = map.states.get(bytes(key));
      if (state != null) {
        return state.over(state.isDependent() ? stored.get(key) : null);
      }
      return map.isCleared(bytes(key)) ? null : stored.get(key);
    }
  }
}
