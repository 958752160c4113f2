package lectus.store.embedded.engine.commit;

import java.util.Arrays;

/** A half-open range of keys, compared as unsigned bytes: {@code begin <= key < end}. */
public record KeyRange(byte[] begin, byte[] end) {

  /** Returns the range that contains only {@code key}: [key, key‖00). */
  public static KeyRange of(byte[] key) {
    return new KeyRange(key, Arrays.copyOf(key, key.length + 1));
  }
}
