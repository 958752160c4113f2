package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import lectus.store.embedded.engine.ConflictHistory.GroupConflicts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What overlaps with the writes of the transactions before in a group, and what only touches. */
class GroupConflictsTest {
  private final GroupConflicts conflicts = new GroupConflicts();

  @BeforeEach
  void write() {
    conflicts.add(List.of(range("d", "f"), range("h", "i"), range("k", "m")));
    conflicts.addUnsorted(List.of(range("x", "y"), range("t", "u")));
  }

  @Test
  void finds_what_overlaps_with_the_first_and_the_last_range_by_one_key() {
    assertThat(conflicts.wrote(range("a", "d\0"))).isTrue();
    assertThat(conflicts.wrote(range("l\u00ff", "s"))).isTrue();
    assertThat(conflicts.wrote(range("s", "t\0"))).isTrue();
    assertThat(conflicts.wrote(range("x\u00ff", "z"))).isTrue();
  }

  @Test
  void passes_over_what_ends_where_the_first_begins_or_begins_where_the_last_ends() {
    assertThat(conflicts.wrote(range("a", "d"))).isFalse();
    assertThat(conflicts.wrote(range("m", "t"))).isFalse();
    assertThat(conflicts.wrote(range("y", "z"))).isFalse();
  }

  @Test
  void tells_what_lies_in_a_gap_from_what_reaches_out_of_it() {
    assertThat(conflicts.wrote(range("f", "h"))).isFalse();
    assertThat(conflicts.wrote(range("u", "x"))).isFalse();
    assertThat(conflicts.wrote(range("f", "h\0"))).isTrue();
    assertThat(conflicts.wrote(range("h\u00ff", "k"))).isTrue();
    assertThat(conflicts.wrote(range("a", "z"))).isTrue();
  }

  private static KeyRange range(String begin, String end) {
    return new KeyRange(bytes(begin), bytes(end));
  }
}
