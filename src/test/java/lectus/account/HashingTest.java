package lectus.account;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whose passwords are hashed first. */
@Timeout(60)
final class HashingTest {
  private final Hashing hashing = new Hashing();

  @AfterEach
  void close() {
    hashing.close();
  }

  private static Supplier<Void> blocking(CountDownLatch begun, CountDownLatch until) {
    return () -> {
      begun.countDown();
      try {
        assertThat(until.await(60, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return null;
    };
  }

  @Test
  void what_nobody_waits_for_comes_after_imports_and_is_in_no_ones_way() throws Exception {
    int threads = Hashing.IMPORTS_AT_ONCE;
    CountDownLatch atWork = new CountDownLatch(threads);
    CountDownLatch goOn = new CountDownLatch(1);
    for (int i = 0; i < threads; i++) {
      hashing.beginImport("a", blocking(atWork, goOn));
    }
    assertThat(atWork.await(60, TimeUnit.SECONDS)).isTrue();
    List<CompletableFuture<Void>> last = new ArrayList<>();
    for (int i = 0; i < Hashing.MAX_WAITING; i++) {
      last.add(hashing.beginLast("anna" + i, () -> null));
    }
    assertThat(last).noneMatch(CompletableFuture::isDone);
    assertThat(hashing.beginLast("one too many", () -> null)).isCompletedExceptionally();

    CountDownLatch imports = new CountDownLatch(threads);
    CountDownLatch end = new CountDownLatch(1);
    for (int i = 0; i < threads; i++) {
      hashing.beginImport("b", blocking(imports, end));
    }
    assertThat(hashing.begin(true, "known", () -> 1).get(60, TimeUnit.SECONDS)).isEqualTo(1);
    goOn.countDown();
    assertThat(imports.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(last).noneMatch(CompletableFuture::isDone);
    end.countDown();
    for (CompletableFuture<Void> each : last) {
      assertThat(each.get(60, TimeUnit.SECONDS)).isNull();
    }
  }
}
