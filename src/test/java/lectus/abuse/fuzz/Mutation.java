package lectus.abuse.fuzz;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/** Small damage to valid bytes. */
final class Mutation {
  private static final byte[][] BITS = {
    {0},
    {'\r', '\n'},
    {'\n'},
    {'"'},
    {'\\'},
    {(byte) 0xff, (byte) 0xfe},
    {(byte) 0xed, (byte) 0xa0, (byte) 0x80},
    {'{'},
    {'}'},
    {'['},
    {']'},
    {','},
    {':'},
    {'-'},
    {'%'},
    {'1', 'e', '9', '9', '9'},
    {' '},
    {'\t'},
    {0x1b, '[', '2', 'J'}
  };

  private Mutation() {}

  static byte[] of(byte[] bytes, Dice dice) {
    byte[] mutated = bytes;
    for (int times = 1 + dice.below(4); times > 0; times--) {
      mutated = once(mutated, dice);
    }
    return mutated;
  }

  private static byte[] once(byte[] bytes, Dice dice) {
    int at = dice.below(bytes.length + 1);
    int end = Math.min(bytes.length, at + dice.below(8));
    return switch (dice.below(6)) {
      case 0 -> joined(bytes, at, at, dice.of(BITS));
      case 1 -> joined(bytes, at, end, new byte[0]);
      case 2 -> joined(bytes, at, end, dice.of(BITS));
      case 3 -> joined(bytes, at, at, Arrays.copyOfRange(bytes, at, end));
      case 4 -> Arrays.copyOf(bytes, at);
      default -> flipped(bytes, at, dice);
    };
  }

  private static byte[] flipped(byte[] bytes, int at, Dice dice) {
    byte[] copy = bytes.clone();
    if (at < copy.length) {
      copy[at] ^= (byte) (1 << dice.below(8));
    }
    return copy;
  }

  /** Returns the bytes with those from {@code begin} to before {@code end} replaced. */
  private static byte[] joined(byte[] bytes, int begin, int end, byte[] between) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(bytes, 0, begin);
    out.writeBytes(between);
    out.write(bytes, end, bytes.length - end);
    return out.toByteArray();
  }
}
