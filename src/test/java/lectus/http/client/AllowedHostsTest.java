package lectus.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import lectus.error.LectusException;
import lectus.http.client.HttpCaller.LookUps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class AllowedHostsTest {
  private static final AllowedHosts USUAL =
      AllowedHosts.of(List.of(), AllowedHosts.DENIED_BY_DEFAULT);
  private static final List<InetAddress> FOUND = List.of(InetAddress.getLoopbackAddress());
  private static final AllowedHosts ALL = AllowedHosts.of(List.of(), List.of());

  private final CompletableFuture<Void> silence = new CompletableFuture<>();
  private final AtomicInteger asked = new AtomicInteger();

  /** Nothing is answered about the names of one domain. */
  private final Function<String, List<InetAddress>> resolver =
      name -> {
        asked.incrementAndGet();
        if (name.endsWith(".silent.test")) {
          silence.join();
        }
        return FOUND;
      };

  private static final int STEPS = 2_000;
  private static final long LOST_NANOS = 20_000_000_000L;

  private static List<InetAddress> addresses(AllowedHosts hosts, String host) throws Throwable {
    try (LookUps lookUps = new LookUps(hosts, LookUps::ofSystem, 1, 60_000)) {
      return lookUps.of(host).join();
    } catch (CompletionException failure) {
      throw failure.getCause();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "169.254.169.254",
        "[fe80::1]",
        "fd00:ec2::254",
        "100.100.100.200",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "::169.254.169.254",
        "2002:a9fe:a9fe::1",
        "::ffff:0:a9fe:a9fe",
        "168.63.129.16",
        "::ffff:168.63.129.16",
        "64:ff9b::a83f:8110",
        "2002:a83f:8110::",
        "fd20:ce::254",
        "2001:0:a9fe:a9fe::",
        "2001:0:c000:201::5601:5601",
        "64:ff9b:1::",
        "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
        "0.0.0.0",
        "0.255.255.255",
        "::ffff:0.0.0.1",
        "::"
      })
  void an_address_of_one_link_is_denied_however_it_is_written(String host) {
    assertThatThrownBy(() -> addresses(USUAL, host))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("may not send requests to");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "169.253.255.255",
        "169.255.0.0",
        "127.0.0.1",
        "::1",
        "fec0::1",
        "10.0.0.1",
        "168.63.129.15",
        "168.63.129.17",
        "1.0.0.0",
        "fd20:ce::253",
        "64:ff9b:2::a9fe:a9fe",
        "64:ff9b::a00:1",
        "2003:a9fe:a9fe::1",
        "2001:0:c000:201::f5ff:fffe",
        "2001:1:a9fe:a9fe::5601:5601"
      })
  void others_are_not(String host) throws Throwable {
    assertThat(addresses(USUAL, host)).hasSize(1);
  }

  /** RFC 6052, section 2.4, has these places, with 192.0.2.33. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "64:ff9b:1:c000:2:2100::",
        "64:ff9b:1:bc0:0:221::",
        "64:ff9b:1:abc:c0:2:2100::",
        "64:ff9b:1::192.0.2.33"
      })
  void a_translator_of_ones_own_is_looked_through(String host) throws Throwable {
    AllowedHosts hosts = AllowedHosts.of(List.of(), List.of("192.0.2.0/24"));

    assertThatThrownBy(() -> addresses(hosts, host)).isInstanceOf(LectusException.class);
    assertThat(addresses(hosts, "64:ff9b:1::192.0.3.33")).hasSize(1);
  }

  @Test
  void a_name_is_denied_if_one_of_its_addresses_is() {
    AllowedHosts hosts = AllowedHosts.of(List.of(), List.of("127.0.0.0/8", "::1"));

    assertThatThrownBy(() -> addresses(hosts, "localhost")).isInstanceOf(LectusException.class);
  }

  @Test
  void with_a_list_of_those_allowed_all_others_are_denied() throws Throwable {
    AllowedHosts hosts = AllowedHosts.of(List.of("local*", "10.0.0.0/8"), List.of("10.1.0.0/16"));

    assertThat(addresses(hosts, "LOCALHOST")).isNotEmpty();
    assertThat(addresses(hosts, "10.2.0.1")).hasSize(1);
    assertThatThrownBy(() -> addresses(hosts, "10.1.0.1")).isInstanceOf(LectusException.class);
    assertThatThrownBy(() -> addresses(hosts, "127.0.0.1")).isInstanceOf(LectusException.class);
  }

  @Test
  void a_domain_whose_name_servers_are_silent_leaves_threads_to_others() {
    try (LookUps lookUps = new LookUps(ALL, resolver, 4, 60_000)) {
      List<CompletableFuture<List<InetAddress>>> waiting = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        waiting.add(lookUps.of("d" + i + ".silent.test"));
      }

      assertThat(lookUps.of("d.other.test.").orTimeout(30, TimeUnit.SECONDS).join())
          .isEqualTo(FOUND);
      assertThat(lookUps.of("127.0.0.1")).isCompletedWithValue(FOUND);

      assertThat(waiting).noneMatch(CompletableFuture::isDone);
      silence.complete(null);
      waiting.forEach(it -> assertThat(it.join()).isEqualTo(FOUND));
    }
  }

  @Test
  void whoever_asks_for_the_same_name_waits_with_the_first_one_and_not_for_ever() {
    try (LookUps lookUps = new LookUps(ALL, resolver, 4, 50)) {
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(lookUps.of("a.silent.test")::join)
            .hasRootCauseInstanceOf(UnknownHostException.class)
            .hasMessageContaining("No name server has answered for a.silent.test");
      }
      assertThat(asked).hasValue(1);
      silence.complete(null);
    }
  }

  /** Each step comes when the one before has run, but may still have its turn. */
  @Test
  void a_step_that_comes_while_another_one_leaves_is_not_forgotten() throws Exception {
    Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    Thread runner = new Thread(() -> runAll(tasks));
    runner.start();
    try {
      Executor turns = new SharedThreads(tasks::add, 1).of("run");
      AtomicInteger ran = new AtomicInteger();
      for (int i = 0; i < STEPS; i++) {
        turns.execute(ran::incrementAndGet);
        long begun = System.nanoTime();
        while (ran.get() == i && System.nanoTime() - begun < LOST_NANOS) {
          Thread.onSpinWait();
        }
        assertThat(ran.get()).isEqualTo(i + 1);
      }
    } finally {
      runner.interrupt();
      runner.join();
    }
  }

  private static void runAll(Queue<Runnable> tasks) {
    while (!Thread.currentThread().isInterrupted()) {
      Runnable task = tasks.poll();
      if (task == null) {
        Thread.onSpinWait();
      } else {
        task.run();
      }
    }
  }
}
