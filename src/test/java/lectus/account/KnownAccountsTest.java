package lectus.account;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import lectus.account.Hashing.FairQueues;
import lectus.account.KnownAccounts.StoredAccount;
import lectus.store.testing.Await;
import org.junit.jupiter.api.Test;

class KnownAccountsTest {
  private static final int NAMES = 4_000;
  private static final int LONG = 8_000;

  private final AtomicInteger reads = new AtomicInteger();
  private final AtomicLong now = new AtomicLong();
  private final CountDownLatch slow = new CountDownLatch(1);

  private final KnownAccounts known = new KnownAccounts(this::read, Runnable::run, now::get);
  private final FairQueues<String> lines = new FairQueues<>(4);

  private Optional<StoredAccount> read(String name) {
    reads.incrementAndGet();
    if (name.equals("slow")) {
      try {
        assertThat(slow.await(60, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    return Optional.empty();
  }

  private CompletableFuture<?> asked() {
    return CompletableFuture.runAsync(
        () -> known.get("slow"), task -> new Thread(task, "asking").start());
  }

  private void awaitReads(int count) {
    Await.until("it is read", () -> reads.get() == count);
  }

  private long keptOf(String tail) {
    IntStream.range(0, NAMES).forEach(number -> known.look(number + tail));
    return IntStream.range(0, NAMES)
        .filter(number -> known.recall(number + tail).isPresent())
        .count();
  }

  @Test
  void names_that_do_not_exist_take_no_more_memory_if_they_are_long() {
    assertThat(keptOf("")).isEqualTo(NAMES);
    assertThat(keptOf("x".repeat(LONG)) * LONG).isLessThan(12 << 20);
  }

  @Test
  void of_those_who_ask_together_one_looks() {
    List<CompletableFuture<?>> all = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      all.add(asked());
    }
    awaitReads(1);
    slow.countDown();
    all.forEach(CompletableFuture::join);
    assertThat(reads).hasValue(1);
  }

  @Test
  void who_asks_after_a_change_or_much_later_looks_again() {
    CompletableFuture<?> first = asked();
    awaitReads(1);
    known.forget("slow");
    CompletableFuture<?> second = asked();
    awaitReads(2);
    now.addAndGet(KnownAccounts.MAX_NANOS + 1);
    CompletableFuture<?> third = asked();
    awaitReads(3);
    slow.countDown();
    CompletableFuture.allOf(first, second, third).join();
  }

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
