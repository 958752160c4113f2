package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;
import lectus.error.LectusException;
import lectus.http.limits.BodyMemory;
import lectus.http.limits.ClientMemory;
import lectus.http.limits.ClientMemory.CompressionQuota;
import lectus.http.limits.MemoryAccount;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The memory that an exchange takes, and that it releases exactly as much. */
final class HeldMemoryTest {
  private static final int FREE = 16 << 10;
  private static final int LIMIT = 10 << 20;

  private final BodyMemory bodies = new BodyMemory(LIMIT, "Too much is held.");
  private final MemoryAccount answers = new MemoryAccount(LIMIT, "Too much is held.");
  private final MemoryAccount filters = new MemoryAccount(LIMIT, "Too much is held.");
  private final ClientMemory memory =
      new ClientMemory(
          bodies,
          new MemoryAccount(1, "Too much is held."),
          answers,
          filters,
          new CompressionQuota(0));
  @AutoClose private final Vertx vertx = Vertx.vertx();
  private final HeldMemory held = held(Duration.ofMinutes(1));

  private HeldMemory held(Duration patience) {
    return new HeldMemory(memory, vertx.getOrCreateContext(), patience, () -> "client");
  }

  private static void join(Future<Void> counted) {
    counted.toCompletionStage().toCompletableFuture().join();
  }

  @Test
  void a_body_is_counted_from_its_first_byte() {
    held.bodyGrows(1);
    assertThat(bodies.held()).isEqualTo(1);
    held.bodyGrows(FREE);
    assertThat(bodies.held()).isEqualTo(FREE + 1);
    held.giveBack();
    assertThat(bodies.held()).isZero();
  }

  @Test
  void a_compressed_body_is_large_until_its_length_is_known() {
    held.bodyGrows(100);
    assertThat(held.hasLargeBody()).isFalse();
    held.bodyIsCompressed();
    assertThat(held.hasLargeBody()).isTrue();
    held.bodyIsDecompressed(MemoryAccount.SMALL_BYTES - 100);
    assertThat(held.hasLargeBody()).isFalse();
    held.bodyGrows(1);
    assertThat(held.hasLargeBody()).isTrue();
    assertThat(bodies.held()).isEqualTo(MemoryAccount.SMALL_BYTES + 1);
  }

  @Test
  void what_is_made_of_a_body_is_given_back_with_it() {
    held.bodyGrows(1 << 20);
    held.parsing().add(20 << 20);
    assertThat(bodies.held()).isGreaterThanOrEqualTo(5 << 20);
    held.giveBack();
    assertThat(bodies.held()).isZero();
  }

  @Test
  void a_filter_takes_the_place_of_the_body_that_it_was() {
    held.bodyGrows(1 << 20);
    held.parsing().add(20 << 20);
    held.bodyBecomesFilter(LIMIT);
    assertThat(bodies.held()).isZero();
    assertThat(filters.held()).isEqualTo(LIMIT);
    held.giveBack();
    assertThat(filters.held()).isZero();

    held.bodyGrows(1);
    assertThatThrownBy(() -> held.bodyBecomesFilter(LIMIT + 1)).hasMessageContaining("filter");
    assertThat(filters.held()).isZero();
  }

  @Test
  void a_request_that_is_finished_twice_gives_back_once() {
    held.bodyGrows(1 << 20);
    held.parsing().add(20 << 20);
    held.giveBack();
    held.giveBack();
    assertThat(bodies.held()).isZero();
  }

  @Test
  void an_answer_is_held_until_its_client_has_taken_it() {
    Promise<Void> small = Promise.promise();
    held.whileSent(bytes(FREE), small::future);
    assertThat(answers.held()).isZero();
    small.complete();
    assertThat(answers.held()).isZero();

    Promise<Void> large = Promise.promise();
    held.whileSent(bytes(FREE + 1), large::future);
    held.giveBack();
    assertThat(answers.held()).isEqualTo(FREE + 1);
    large.complete();
    assertThat(answers.held()).isZero();
  }

  @Test
  void it_is_held_until_its_client_is_gone() {
    Promise<Void> large = Promise.promise();
    held.whileSent(bytes(FREE + 1), large::future);
    assertThat(answers.held()).isEqualTo(FREE + 1);
    large.fail("the client is gone");
    assertThat(answers.held()).isZero();
  }

  @Test
  void an_answer_that_cannot_be_sent_is_given_back() {
    IllegalArgumentException unsent = new IllegalArgumentException();
    assertThatThrownBy(() -> held.whileSent(bytes(FREE + 1), () -> thrown(unsent)))
        .isSameAs(unsent);
    assertThat(answers.held()).isZero();
  }

  @Test
  void nothing_is_sent_when_others_hold_too_much() {
    answers.reserve(LIMIT, 0);
    Promise<Void> sent = Promise.promise();
    assertThatThrownBy(() -> held.whileSent(bytes(1 << 20), () -> completed(sent)))
        .isInstanceOf(LectusException.class);
    assertThat(sent.future().isComplete()).isFalse();
    held.giveBack();
    assertThat(answers.held()).isEqualTo(LIMIT);
  }

  @Test
  void a_body_waits_for_what_others_hold_and_is_refused_when_its_time_is_over() {
    HeldMemory other = held(Duration.ofMinutes(1));
    join(other.bodyGrows(LIMIT));
    HeldMemory hasty = held(Duration.ofMillis(1));
    assertThatThrownBy(() -> join(hasty.bodyGrows(1 << 20)))
        .hasCauseInstanceOf(LectusException.class)
        .hasMessageContaining("Too much is held.");
    assertThat(hasty.tryBodyGrows(1 << 20)).isFalse();
    Future<Void> counted = held.bodyGrows(1 << 20);
    assertThat(counted.isComplete()).isFalse();
    other.giveBack();
    join(counted);
    assertThat(bodies.held()).isEqualTo(1 << 20);
    assertThat(bodies.waiting()).isZero();
  }

  @Test
  void what_passes_through_counts_a_fifth() {
    join(held.passes(500_003));
    assertThat(bodies.held()).isEqualTo(100_000);
    assertThat(held.tryPasses(1_000_000)).isTrue();
    assertThat(bodies.held()).isEqualTo(200_000);
    assertThat(held.tryPasses(5L * (LIMIT + (1 << 20)))).isTrue();
    join(held(Duration.ofMinutes(1)).passes(10));
    assertThat(held.tryPasses(4)).isTrue();
    assertThat(bodies.held()).isEqualTo(2);
  }

  private static Future<Void> thrown(RuntimeException failure) {
    throw failure;
  }

  private static Future<Void> completed(Promise<Void> sent) {
    sent.complete();
    return sent.future();
  }

  private static Buffer bytes(int length) {
    return Buffer.buffer(new byte[length]);
  }
}
