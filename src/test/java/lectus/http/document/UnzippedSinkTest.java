package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.util.Random;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.BodySink;
import lectus.http.limits.BodyMemory;
import lectus.http.testing.Request;
import org.junit.jupiter.api.Test;

/** Compressed bodies step by step. */
final class UnzippedSinkTest {
  private static final int AT_ONCE = 64 << 10;
  private static final int MAX_HELD = 1 << 20;

  private final Plain plain = new Plain();

  /** Keeps what comes. */
  private static final class Plain implements BodySink<byte[]> {
    private final ByteArrayOutputStream all = new ByteArrayOutputStream();

    @Override
    public void take(byte[] bytes) {
      all.writeBytes(bytes);
    }

    @Override
    public Held held() {
      return new Held(all.size(), BodyMemory.UNKNOWN, 0);
    }

    @Override
    public byte[] end() {
      return all.toByteArray();
    }

    @Override
    public void abandon() {
      all.reset();
    }
  }

  private UnzippedSink<byte[]> sink() {
    return new UnzippedSink<>(plain, Long.MAX_VALUE, MAX_HELD);
  }

  /** Random bytes, which stay as long, and spaces. */
  private static byte[] text(int random, int spaces) {
    byte[] text = new byte[random + spaces];
    byte[] head = new byte[random];
    new Random(random).nextBytes(head);
    System.arraycopy(head, 0, text, 0, random);
    return text;
  }

  private static void takeAll(UnzippedSink<byte[]> sink, byte[] bytes) {
    sink.take(bytes);
    while (sink.hasMore()) {
      sink.take(new byte[0]);
    }
  }

  @Test
  void what_a_piece_is_decompressed_into_is_handed_over_little_at_a_time() {
    byte[] text = text(0, MAX_HELD);
    UnzippedSink<byte[]> sink = sink();
    sink.take(Request.gzip(text));
    for (int held = AT_ONCE; held <= MAX_HELD; held += AT_ONCE) {
      assertThat(sink.held().kept()).isEqualTo(held);
      assertThat(sink.hasMore()).isTrue();
      sink.take(new byte[0]);
    }
    assertThat(sink.hasMore()).isFalse();
    assertThat(sink.end()).isEqualTo(text);
  }

  @Test
  void a_piece_may_have_several_members_and_end_anywhere() {
    byte[] bytes = Request.gzip(text(AT_ONCE, 0), new byte[0], text(0, AT_ONCE), text(7, 7));
    UnzippedSink<byte[]> sink = sink();
    for (byte octet : bytes) {
      takeAll(sink, new byte[] {octet});
    }
    byte[] whole = sink.end();
    Plain atOnce = new Plain();
    UnzippedSink<byte[]> other = new UnzippedSink<>(atOnce, Long.MAX_VALUE, MAX_HELD);
    takeAll(other, bytes);
    assertThat(other.end()).isEqualTo(whole).hasSize(2 * AT_ONCE + 14);
  }

  @Test
  void what_may_not_be_held_is_at_most_a_hundred_times_as_long_as_what_was_sent() {
    takeAll(sink(), Request.gzip(text(0, MAX_HELD)));
    assertTooLong(Request.gzip(text(0, MAX_HELD + 1)));

    int random = MAX_HELD / 64;
    int most = mostSpaces(random);
    assertThat(random + most).isGreaterThan(MAX_HELD);
    takeAll(sink(), Request.gzip(text(random, most)));
    assertTooLong(Request.gzip(text(random, most + 2_000)));
  }

  /** Returns how many spaces behind random bytes are about a hundred times as long as gzip. */
  private static int mostSpaces(int random) {
    int spaces = 0;
    while (random + spaces + 1_000
        <= UnzippedSink.MAX_TIMES * Request.gzip(text(random, spaces + 1_000)).length) {
      spaces += 1_000;
      spaces += Math.max(0, UnzippedSink.MAX_TIMES * random - random - spaces - 10_000);
    }
    return spaces;
  }

  private void assertTooLong(byte[] bytes) {
    assertThatThrownBy(() -> takeAll(sink(), bytes))
        .isInstanceOfSatisfying(
            LectusException.class,
            refused -> assertThat(refused.error()).isInstanceOf(LectusError.TooLarge.class));
  }
}
