package lectus.http.limits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import lectus.http.limits.RequestThreads.Kind;
import lectus.http.limits.RequestThreads.Work;
import org.junit.jupiter.api.Test;

/** The order of work, and refusals. */
final class FairQueueTest {
  private static final int MAX_WAITING = 440;

  /** A tenth of what is left of half of it. */
  private static final int MAX_OF_A_CLIENT = 20;

  private final FairQueue queue = new FairQueue(MAX_WAITING, 1);

  private record Named(String name) implements Runnable {
    @Override
    public void run() {}
  }

  private void add(String client, Kind kind, String... names) {
    for (String name : names) {
      queue.add(client, kind, new Named(name));
    }
  }

  private String next() {
    FairQueue.Next next = queue.next();
    if (next.isSlow()) {
      queue.slowDone();
    }
    return next.work() instanceof Named named ? named.name() : ((NamedWork) next.work()).name();
  }

  private List<String> all() {
    List<String> names = new ArrayList<>();
    while (queue.hasNext()) {
      names.add(next());
    }
    return names;
  }

  @Test
  void clients_take_turns_whatever_each_has() {
    add("a", Kind.REQUEST, "a1", "a2", "a3", "a4");
    add("b", Kind.REQUEST, "b1", "b2");
    add("c", Kind.REQUEST, "c1");

    assertThat(next()).isEqualTo("a1");
    add("d", Kind.REQUEST, "d1");
    assertThat(all()).containsExactly("b1", "c1", "a2", "d1", "b2", "a3", "a4");
  }

  private static NamedWork awaited(String name) {
    return new NamedWork(name, false, true, List.of());
  }

  private void await(String client, String... names) {
    for (String name : names) {
      queue.add(client, Kind.REQUEST, awaited(name));
    }
  }

  @Test
  void what_waits_in_vain_is_taken_out_and_the_rest_keeps_its_turn() {
    await("a", "a1", "a2", "a3");
    await("b", "b1");
    List<Work> given = new ArrayList<>();
    queue.giveUp(it -> !((NamedWork) it).name().endsWith("2"), given);
    await("a", "a4");

    assertThat(given).extracting(it -> ((NamedWork) it).name()).containsOnly("a1", "a3", "b1");
    assertThat(all()).containsExactly("a2", "a4");
  }

  @Test
  void what_is_given_up_and_what_is_not_is_known_even_if_memory_runs_out_on_the_way() {
    await("a", "a1", "a2", "a3", "a4");
    List<Work> given = new ArrayList<>();
    assertThatThrownBy(
            () ->
                queue.giveUp(
                    it -> {
                      if (it.equals(awaited("a3"))) {
                        throw new OutOfMemoryError("Java heap space");
                      }
                      return it.equals(awaited("a2"));
                    },
                    given))
        .isInstanceOf(OutOfMemoryError.class);

    assertThat(given).containsExactly(awaited("a2"));
    assertThat(all()).containsExactly("a1", "a3", "a4");
  }

  @Test
  void who_comes_again_stands_behind_all_others() {
    add("a", Kind.REQUEST, "a1");
    add("b", Kind.REQUEST, "b1");
    assertThat(next()).isEqualTo("a1");
    add("a", Kind.REQUEST, "a2");

    assertThat(all()).containsExactly("b1", "a2");
  }

  @Test
  void a_large_body_waits_for_live_tails_and_goes_before_other_feeds() {
    add("f", Kind.FEED, "page");
    add("l", Kind.LARGE_BODY, "body");
    queue.addTail(new Named("tail"));

    assertThat(all()).containsExactly("tail", "body", "page");
  }

  @Test
  void a_new_request_goes_before_all_further_parts_of_long_answers() {
    for (int stream = 0; stream < 300; stream++) {
      add("s" + stream, Kind.LONG_ANSWER, "page");
    }
    add("new", Kind.REQUEST, "small");

    assertThat(next()).isEqualTo("small");
  }

  @Test
  void live_tails_go_before_new_feeds_and_these_before_long_ones() {
    add("a", Kind.LONG_FEED, "long");
    add("b", Kind.FEED, "first");
    queue.addTail(new Named("tail"));

    assertThat(all()).containsExactly("tail", "first", "long");
  }

  @Test
  void what_is_long_is_passed_over_seven_times_and_not_more() {
    for (int i = 0; i < 20; i++) {
      queue.addTail(new Named("t"));
    }
    add("a", Kind.LONG_FEED, "long", "long");

    assertThat(String.join(" ", all()))
        .isEqualTo("t t t t t t t long t t t t t t t long t t t t t t");
  }

  @Test
  void two_that_are_passed_over_both_have_their_turns() {
    for (int i = 0; i < 30; i++) {
      queue.addTail(new Named("t"));
    }
    add("a", Kind.FEED, "f", "f", "f");
    add("b", Kind.LONG_FEED, "l", "l", "l");

    List<String> first = all().subList(0, 26);
    assertThat(first).contains("f", "l");
    assertThat(first.stream().filter(name -> !name.equals("t"))).hasSize(6);
  }

  @Test
  void requests_and_feeds_alternate() {
    add("a", Kind.REQUEST, "r", "r", "r");
    add("b", Kind.LONG_FEED, "f", "f");

    assertThat(String.join(" ", all())).isEqualTo("f r f r r");
  }

  @Test
  void feeds_have_their_share_of_the_threads_and_no_more() {
    FairQueue wide = new FairQueue(MAX_WAITING, 2);
    for (int i = 0; i < 3; i++) {
      wide.add("c" + i, Kind.FEED, new Named("f"));
    }
    assertThat(wide.next().isSlow()).isTrue();
    assertThat(wide.next().isSlow()).isTrue();
    assertThat(wide.hasNext()).isFalse();

    wide.add("r", Kind.REQUEST, new Named("r"));
    assertThat(wide.next().isSlow()).isFalse();
    assertThat(wide.hasNext()).isFalse();
    wide.slowDone();
    assertThat(wide.next().isSlow()).isTrue();
  }

  @Test
  void a_client_that_left_waits_for_nothing_but_what_it_has_asked_to_be_done() {
    List<String> dropped = new ArrayList<>();
    queue.add("a", Kind.REQUEST, new NamedWork("read", true, false, dropped));
    queue.add("a", Kind.REQUEST, new Named("write"));
    queue.add("a", Kind.LONG_FEED, new NamedWork("feed", true, false, dropped));
    queue.add("b", Kind.REQUEST, new NamedWork("other", true, false, dropped));

    queue.drop("a").forEach(Work::drop);

    assertThat(dropped).containsExactlyInAnyOrder("read dropped", "feed dropped");
    assertThat(all()).containsExactlyInAnyOrder("write", "other");
    assertThat(queue.drop("a")).isEmpty();
  }

  @Test
  void a_client_may_have_its_part_of_the_room_and_no_more() {
    for (int i = 0; i < MAX_OF_A_CLIENT; i++) {
      add("a", Kind.REQUEST, "a");
    }
    assertThatThrownBy(() -> add("a", Kind.REQUEST, "one more"))
        .isInstanceOf(RejectedExecutionException.class);

    add("b", Kind.REQUEST, "b");
    assertThat(next() + next()).isEqualTo("ab");
    add("a", Kind.REQUEST, "a");
  }

  @Test
  void however_many_clients_want_much_there_is_room_for_one_that_wants_little() {
    for (int client = 0; client < MAX_WAITING / 4; client++) {
      addUntilRefused("greedy" + client);
      add("modest" + client, Kind.FEED, "little");
    }
  }

  private void addUntilRefused(String client) {
    assertThatThrownBy(
            () -> {
              for (int i = 0; i <= MAX_OF_A_CLIENT; i++) {
                add(client, Kind.REQUEST, "much");
              }
            })
        .isInstanceOf(RejectedExecutionException.class);
  }

  @Test
  void beyond_what_may_wait_for_all_everybody_is_refused() {
    for (int client = 0; client < MAX_WAITING; client++) {
      add("c" + client, Kind.REQUEST, "one");
    }
    assertThatThrownBy(() -> add("late", Kind.REQUEST, "one"))
        .isInstanceOf(RejectedExecutionException.class);

    next();
    add("late", Kind.REQUEST, "one");
  }

  @Test
  void live_tails_are_never_refused_and_take_nobodys_place() {
    for (int tail = 0; tail < 2 * MAX_WAITING; tail++) {
      queue.addTail(new Named("t"));
    }
    add("a", Kind.REQUEST, "a");

    assertThat(all()).hasSize(2 * MAX_WAITING + 1);
  }
}
