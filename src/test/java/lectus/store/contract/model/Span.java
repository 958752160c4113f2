package lectus.store.contract.model;

import java.util.Arrays;
import java.util.Collection;

/** A half-open range of keys. */
record Span(byte[] begin, byte[] end) {

  static Span of(byte[] key) {
    return new Span(key, after(key));
  }

  /** Returns the first key after {@code key}. */
  static byte[] after(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  boolean isEmpty() {
    return Arrays.compareUnsigned(begin, end) >= 0;
  }

  boolean contains(byte[] key) {
    return Arrays.compareUnsigned(begin, key) <= 0 && Arrays.compareUnsigned(key, end) < 0;
  }

  boolean intersects(Span other) {
    return Arrays.compareUnsigned(begin, other.end) < 0
        && Arrays.compareUnsigned(other.begin, end) < 0;
  }

  static boolean intersect(Collection<Span> some, Collection<Span> others) {
    return some.stream().anyMatch(one -> others.stream().anyMatch(one::intersects));
  }
}
