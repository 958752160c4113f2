package lectus.account;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.account.Hashing.FairQueues;
import org.junit.jupiter.api.Test;

class FairQueuesTest {
  private final FairQueues<String> lines = new FairQueues<>(4);

  private List<String> rest() {
    List<String> rest = new ArrayList<>();
    for (Optional<String> next = lines.next(); next.isPresent(); next = lines.next()) {
      rest.add(next.get());
    }
    return rest;
  }

  @Test
  void lines_take_turns() {
    lines.add("a", "a1");
    lines.add("a", "a2");
    lines.add("a", "a3");
    lines.add("b", "b1");
    assertThat(rest()).containsExactly("a1", "b1", "a2", "a3");
    assertThat(lines.add("a", "a4")).isEmpty();
    assertThat(rest()).containsExactly("a4");
  }

  @Test
  void the_last_of_the_longest_line_goes() {
    for (String name : List.of("a1", "a2", "a3", "a4")) {
      assertThat(lines.add("a", name)).isEmpty();
    }
    assertThat(lines.add("a", "a5")).contains("a5");
    assertThat(lines.add("b", "b1")).contains("a4");
    assertThat(lines.add("b", "b2")).contains("a3");
    assertThat(lines.add("b", "b3")).contains("b3");
    assertThat(rest()).containsExactly("a1", "b1", "a2", "b2");
  }

  @Test
  void many_clients_do_not_push_out_who_waits() {
    for (String name : List.of("a", "b", "c", "d")) {
      assertThat(lines.add(name, name)).isEmpty();
    }
    assertThat(lines.add("e", "e")).contains("e");
    assertThat(rest()).containsExactly("a", "b", "c", "d");
  }
}
