package lectus.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import lectus.http.client.HttpCaller.LookUps;
import org.junit.jupiter.api.Test;

/** Names whose name servers do not answer, beside others. */
final class LookUpsTest {
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
}
