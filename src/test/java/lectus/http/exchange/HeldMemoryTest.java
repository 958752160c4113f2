package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import lectus.error.LectusException;
import lectus.http.memory.ClientMemory;
import lectus.http.memory.CompressionRoom;
import lectus.http.memory.MemoryAccount;
import org.junit.jupiter.api.Test;

/** The memory that an exchange takes, and that it releases exactly as much. */
final class HeldMemoryTest {
  private static final int FREE = 16 << 10;
  private static final int LIMIT = 10 << 20;

  private final MemoryAccount bodies = new MemoryAccount(LIMIT, "Too much is held.");
  private final MemoryAccount answers = new MemoryAccount(LIMIT, "Too much is held.");
  private final MemoryAccount filters = new MemoryAccount(LIMIT, "Too much is held.");
  private final HeldMemory held =
      new HeldMemory(
          new ClientMemory(
              bodies,
              new MemoryAccount(1, "Too much is held."),
              answers,
              filters,
              new CompressionRoom(0)));

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
  void nothing_is_taken_or_sent_when_others_hold_too_much() {
    bodies.reserve(LIMIT, 0);
    answers.reserve(LIMIT, 0);
    Promise<Void> sent = Promise.promise();
    assertThatThrownBy(() -> held.whileSent(bytes(1 << 20), () -> completed(sent)))
        .isInstanceOf(LectusException.class);
    assertThatThrownBy(() -> held.bodyGrows(1 << 20)).isInstanceOf(LectusException.class);
    assertThat(sent.future().isComplete()).isFalse();
    held.giveBack();
    assertThat(bodies.held()).isEqualTo(LIMIT);
    assertThat(answers.held()).isEqualTo(LIMIT);
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
