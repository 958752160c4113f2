package lectus.store.contract.model;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import lectus.store.contract.model.ModelTransaction.Span;

/** All random choices of a run, from one seed. */
final class Dice {
  private static final List<MutationType> ATOMICS =
      List.of(
          MutationType.ADD,
          MutationType.BIT_AND,
          MutationType.BIT_OR,
          MutationType.BIT_XOR,
          MutationType.MAX,
          MutationType.MIN,
          MutationType.BYTE_MIN,
          MutationType.BYTE_MAX,
          MutationType.APPEND_IF_FITS,
          MutationType.COMPARE_AND_CLEAR);

  private static final byte[] FIRST_NAME = {'a'};
  private static final byte[] AFTER = {'z'};

  private final Random random;
  private final byte[] prefix;

  /** Few letters make transactions collide; many make long ranges. */
  private final int letters;

  Dice(long seed, byte[] prefix) {
    this.random = new Random(seed);
    this.prefix = prefix;
    this.letters = 3 + 4 * (int) Math.floorMod(seed, 3L);
  }

  int below(int bound) {
    return random.nextInt(bound);
  }

  boolean oneIn(int times) {
    return random.nextInt(times) == 0;
  }

  <T> T oneOf(List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }

  /** Returns one of few keys, so that transactions collide. */
  byte[] key() {
    byte[] name = new byte[1 + random.nextInt(2)];
    for (int i = 0; i < name.length; i++) {
      name[i] = (byte) ('a' + random.nextInt(letters));
    }
    byte[] tail = oneIn(12) ? new byte[] {(byte) (oneIn(2) ? 0 : 0xff)} : new byte[0];
    return ByteArrayUtil.join(prefix, name, tail);
  }

  Span span() {
    if (oneIn(10)) {
      return new Span(prefix, ByteArrayUtil.strinc(prefix));
    }
    byte[] one = key();
    byte[] other = oneIn(5) ? Span.after(key()) : key();
    boolean ordered = Arrays.compareUnsigned(one, other) <= 0 || oneIn(10);
    return ordered ? new Span(one, other) : new Span(other, one);
  }

  /** Returns a legal span for a clear or a conflict range: not inverted, between the fences. */
  Span legalSpan() {
    Span all = new Span(ByteArrayUtil.join(prefix, FIRST_NAME), ByteArrayUtil.join(prefix, AFTER));
    Span span = oneIn(10) ? all : new Span(key(), key());
    return span.isEmpty() ? new Span(span.end(), span.begin()) : span;
  }

  byte[] value() {
    byte[] value = new byte[oneIn(8) ? 300 : random.nextInt(6)];
    random.nextBytes(value);
    return value;
  }

  byte[] operand() {
    byte[] operand = new byte[random.nextInt(5)];
    random.nextBytes(operand);
    return operand;
  }

  MutationType atomic() {
    return oneOf(ATOMICS);
  }

  /** Returns a row limit; 0 means none. */
  int limit() {
    return oneIn(3) ? 0 : 1 + random.nextInt(2 * letters);
  }

  StreamingMode mode(int limit) {
    StreamingMode mode = oneOf(List.of(StreamingMode.values()));
    return mode == StreamingMode.EXACT && limit == 0 ? StreamingMode.WANT_ALL : mode;
  }
}
