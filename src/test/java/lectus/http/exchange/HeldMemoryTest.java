package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import lectus.error.LectusException;
import lectus.http.BodyMemory;
import org.junit.jupiter.api.Test;

/** What an exchange takes of the memory that all share, and that it gives back just that. */
final class HeldMemoryTest {
  private static final int FREE = 64 << 10;
  private static final int FREE_PART = 512 << 10;
  private static final int LIMIT = 10 << 20;

  private final BodyMemory memory = new BodyMemory(LIMIT);
  private final HeldMemory held = new HeldMemory(memory);

  /** Neither more nor less: what is left beside it can be had by two others, and no byte more. */
  private void assertHeld(int bytes) {
    int half = (LIMIT - bytes) / 2;
    int rest = LIMIT - bytes - half;
    memory.reserve(half, 0);
    memory.reserve(rest, 0);
    assertThatThrownBy(() -> memory.reserve(1, 0)).isInstanceOf(LectusException.class);
    memory.release(LIMIT - bytes);
  }

  @Test
  void a_body_is_counted_when_it_is_large() {
    held.body(FREE);
    assertHeld(0);
    held.body(FREE + 1);
    assertHeld(FREE + 1);
    held.giveBack();
    assertHeld(0);
  }

  @Test
  void a_body_is_counted_from_the_part_on_that_makes_it_large() {
    held.bodyGrows(FREE, FREE);
    assertHeld(0);
    held.bodyGrows(1_000, FREE + 1_000);
    held.bodyGrows(500, FREE + 1_500);
    assertHeld(1_500);
    held.giveBack();
    assertHeld(0);
  }

  @Test
  void what_is_made_of_a_body_is_given_back_with_it() {
    held.body(1 << 20);
    held.parsing().add(20 << 20);
    assertThatThrownBy(() -> memory.reserve(6 << 20, 0)).isInstanceOf(LectusException.class);
    held.giveBack();
    assertHeld(0);
  }

  @Test
  void a_request_that_is_finished_twice_gives_back_once() {
    held.body(1 << 20);
    held.parsing().add(20 << 20);
    held.giveBack();
    held.giveBack();
    assertHeld(0);
  }

  @Test
  void a_large_answer_is_held_until_its_client_has_taken_it() {
    Promise<Void> small = Promise.promise();
    held.whileSent(bytes(FREE), small::future);
    assertHeld(0);
    small.complete();
    assertHeld(0);

    Promise<Void> large = Promise.promise();
    held.whileSent(bytes(FREE + 1), large::future);
    held.giveBack();
    assertHeld(FREE + 1);
    large.complete();
    assertHeld(0);
  }

  @Test
  void a_large_part_is_held_until_its_client_is_gone() {
    Promise<Void> small = Promise.promise();
    held.whilePartSent(bytes(FREE_PART), small::future);
    assertHeld(0);

    Promise<Void> large = Promise.promise();
    held.whilePartSent(bytes(FREE_PART + 1), large::future);
    assertHeld(FREE_PART + 1);
    large.fail("the client is gone");
    assertHeld(0);
  }

  @Test
  void an_answer_that_cannot_be_sent_is_given_back() {
    IllegalArgumentException unsent = new IllegalArgumentException();
    assertThatThrownBy(() -> held.whileSent(bytes(FREE + 1), () -> thrown(unsent)))
        .isSameAs(unsent);
    assertHeld(0);
    assertThatThrownBy(() -> held.whilePartSent(bytes(FREE_PART + 1), () -> thrown(unsent)))
        .isSameAs(unsent);
    assertHeld(0);
  }

  @Test
  void nothing_is_sent_when_others_hold_too_much() {
    memory.reserve(LIMIT, 0);
    Promise<Void> sent = Promise.promise();
    assertThatThrownBy(() -> held.whileSent(bytes(FREE + 1), () -> completed(sent)))
        .isInstanceOf(LectusException.class);
    assertThatThrownBy(() -> held.body(FREE + 1)).isInstanceOf(LectusException.class);
    assertThat(sent.future().isComplete()).isFalse();
    held.giveBack();
    assertHeld(LIMIT);
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
