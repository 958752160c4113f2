package lectus.changes.notify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import lectus.changes.notify.CandidateQueue.Candidate;
import lectus.changes.notify.DatabaseSet.DatabasePattern;
import lectus.database.DatabaseName;
import lectus.error.LectusException;
import lectus.store.Versionstamp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class DatabaseSetTest {
  private static final Comparator<Candidate> EARLIEST_FIRST =
      Comparator.comparing(Candidate::atLeast);
  private final CandidateHeap heap = new CandidateHeap();

  @ParameterizedTest
  @CsvSource({
    "user-*, user-, true",
    "user-*, user-7, true",
    "user-*, user-a/b, true",
    "user-*, user, false",
    "user-*, super-user-7, false",
    "*, anything, true",
    "*-log, a-log, true",
    "*-log, a-logs, false",
    "a*a, a, false",
    "a*a, aa, true",
    "a*b*c, abc, true",
    "a*b*c, axbxbxc, true",
    "a*b*c, acb, false",
    "a*bc*c, abc, false",
    "a**b, ab, true",
    "plain, plain, true",
    "plain, plainer, false",
  })
  void star_stands_for_any_run_of_characters(String pattern, String name, boolean contained) {
    assertThat(DatabaseSet.of(List.of(pattern)).contains(DatabaseName.of(name)))
        .isEqualTo(contained);
  }

  @Test
  void it_is_the_union_of_its_members() {
    DatabaseSet set = DatabaseSet.of(List.of("a", "b*", "c*x"));
    assertThat(List.of("a", "b", "bc", "cax", "aa", "ca", "d"))
        .filteredOn(name -> set.contains(DatabaseName.of(name)))
        .containsExactly("a", "b", "bc", "cax");
  }

  @Test
  void equal_members_make_equal_sets_in_any_order() {
    DatabaseSet one = DatabaseSet.of(List.of("a", "b*", "c*"));
    DatabaseSet other = DatabaseSet.of(List.of("c*", "b*", "a", "a"));
    assertThat(one).isEqualTo(other).hasSameHashCodeAs(other);
    assertThat(one).isNotEqualTo(DatabaseSet.of(List.of("a", "b*")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "User-*", "a b*", "Upper", "_x", "ü*", "a?*"})
  void what_no_database_can_be_called_is_refused(String member) {
    assertThatThrownBy(() -> DatabaseSet.of(List.of(member))).isInstanceOf(LectusException.class);
  }

  @Test
  void patterns_match_what_regular_expressions_do() {
    Random random = new Random(4);
    for (int i = 0; i < 20_000; i++) {
      String pattern = text(random, "ab*", 1 + random.nextInt(6));
      String name = "a" + text(random, "ab", random.nextInt(8));
      boolean expected = name.matches(pattern.replace("*", ".*"));
      if (DatabasePattern.isPattern(pattern)) {
        assertThat(DatabasePattern.of(pattern).matches(DatabaseName.of(name)))
            .as(pattern + " " + name)
            .isEqualTo(expected);
      }
    }
  }

  private static String text(Random random, String alphabet, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return text.toString();
  }

  private static Versionstamp point(long high, int low) {
    byte[] bytes = new byte[12];
    for (int i = 0; i < 8; i++) {
      bytes[i] = (byte) (high >>> (56 - 8 * i));
    }
    for (int i = 0; i < 4; i++) {
      bytes[8 + i] = (byte) (low >>> (24 - 8 * i));
    }
    return new Versionstamp(bytes);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void it_does_what_a_queue_of_objects_does(long seed) {
    Random random = new Random(seed);
    PriorityQueue<Candidate> queue = new PriorityQueue<>(EARLIEST_FIRST);
    Map<DatabaseName, Candidate> changes = new HashMap<>();
    for (int i = 0; i < 30_000; i++) {
      // It grows at first and is emptied in the end.
      int action = random.nextInt(i < 15_000 ? 14 : 30);
      DatabaseName name = DatabaseName.of("n" + Integer.toString(random.nextInt(4_000), 36));
      if (action < 8) {
        Candidate added = new Candidate(name, kind(random), point(random.nextLong(), i));
        if (added.kind() != Candidate.Kind.END) {
          queue.remove(changes.put(name, added));
        }
        heap.add(added);
        queue.add(added);
      } else if (action < 10) {
        queue.remove(changes.remove(name));
        heap.remove(name);
      } else {
        Candidate first = queue.poll();
        if (first != null && first.kind() != Candidate.Kind.END) {
          changes.remove(first.name());
        }
        assertThat(heap.poll()).isEqualTo(first);
      }
      assertThat(heap.hasChanges(name)).isEqualTo(changes.containsKey(name));
      assertThat(heap.size()).isEqualTo(queue.size());
      assertThat(heap.first()).isEqualTo(queue.peek());
    }
    while (!queue.isEmpty()) {
      assertThat(heap.poll()).isEqualTo(queue.poll());
    }
    assertThat(heap.poll()).isNull();
  }

  private static Candidate.Kind kind(Random random) {
    return Candidate.Kind.values()[random.nextInt(Candidate.Kind.values().length)];
  }

  @Test
  void points_are_compared_without_a_sign() {
    for (int i = 0; i < 4; i++) {
      long high = (i & 1) == 0 ? 1 : -1;
      int low = (i & 2) == 0 ? 1 : -1;
      heap.add(Candidate.end(DatabaseName.of("n" + i), point(high, low)));
    }
    assertThat(heap.poll().atLeast()).isEqualTo(point(1, 1));
    assertThat(heap.poll().atLeast()).isEqualTo(point(1, -1));
    assertThat(heap.poll().atLeast()).isEqualTo(point(-1, 1));
    assertThat(heap.poll().atLeast()).isEqualTo(point(-1, -1));
  }

  @Test
  void names_may_be_as_long_as_names_are() {
    DatabaseName longest = DatabaseName.of("n".repeat(DatabaseName.MAX_LENGTH));
    heap.add(Candidate.somewhere(longest, point(1, 1)));
    assertThat(heap.hasChanges(longest)).isTrue();
    assertThat(heap.poll().name()).isEqualTo(longest);
  }

  @Test
  void a_hundred_thousand_take_less_than_eighty_bytes_each_however_often_they_move() {
    int count = 100_000;
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < count; i++) {
        heap.add(
            Candidate.somewhere(DatabaseName.of("user-" + i), point(i * 7919L % count, round)));
      }
      assertThat(heap.size()).isEqualTo(count);
      assertThat(heap.bytes()).isLessThan(80L * count);
    }
  }
}
