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
import lectus.changes.notify.CandidateQueue.CandidateMemory;
import lectus.changes.notify.DatabaseSet.DatabasePattern;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.InstanceId;
import lectus.error.LectusException;
import lectus.store.Versionstamp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class DatabaseSetTest {
  private static final Comparator<Candidate> EARLIEST_FIRST =
      Comparator.comparing(Candidate::atLeast);

  private final CandidateMemory memory = new CandidateMemory(64 << 20);
  private final CandidateQueue candidates =
      new CandidateQueue(DatabaseSet.of(List.of("*")), memory);

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
        candidates.add(added);
        queue.add(added);
      } else if (action < 10) {
        queue.remove(changes.remove(name));
        candidates.add(end(name), Versionstamp.ZERO, Versionstamp.END);
      } else {
        Candidate first = queue.poll();
        if (first != null && first.kind() != Candidate.Kind.END) {
          changes.remove(first.name());
        }
        assertThat(candidates.poll()).isEqualTo(first);
      }
      assertThat(candidates.size()).isEqualTo(queue.size());
      assertThat(candidates.peek()).isEqualTo(queue.peek());
    }
    while (!queue.isEmpty()) {
      assertThat(candidates.poll()).isEqualTo(queue.poll());
    }
    assertThat(candidates.poll()).isNull();
  }

  private static Candidate.Kind kind(Random random) {
    return Candidate.Kind.values()[random.nextInt(Candidate.Kind.values().length)];
  }

  /** Returns the end of a database that its reader does not know: its changes are forgotten. */
  private static DatabaseUpdate end(DatabaseName name) {
    return new DatabaseUpdate(
        point(1, 1), DatabaseUpdate.Kind.DELETED, new InstanceId("i"), name, point(1, 0));
  }

  @Test
  void candidates_count_while_they_are_kept_and_once_however_often_they_move() {
    int count = 1_000;
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < count; i++) {
        candidates.add(
            Candidate.somewhere(DatabaseName.of("user-" + i), point(i * 7919L % count, round)));
      }
      assertThat(candidates.size()).isEqualTo(count);
      assertThat(memory.taken.get()).isBetween(200L * count, 250L * count);
    }
    candidates.keepFirst(count / 2);
    assertThat(candidates.horizon()).isEqualTo(point(count / 2, 2));
    assertThat(memory.taken.get()).isBetween(200L * count / 2, 250L * count / 2);
    candidates.drop();
    assertThat(memory.taken.get()).isZero();
  }
}
