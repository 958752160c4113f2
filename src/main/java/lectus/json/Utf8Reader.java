package lectus.json;

import java.io.Reader;

/**
 * Reads characters from a byte array known to be well-formed UTF-8. From bytes, the parser would
 * guess the encoding and keep member names in a symbol table, so it gets a reader.
 */
final class Utf8Reader extends Reader {
  private final byte[] data;
  private final int to;
  private int position;

  /** The second half of a surrogate pair that did not fit, or 0. */
  private char pending;

  Utf8Reader(byte[] data, int from, int to) {
    this.data = data;
    this.position = from;
    this.to = to;
  }

  @Override
  public int read(char[] target, int offset, int count) {
    int at = offset;
    int end = offset + count;
    if (pending != 0 && at < end) {
      target[at++] = pending;
      pending = 0;
    }
    while (at < end && position < to) {
      int b = data[position];
      if (b >= 0) {
        target[at++] = (char) b;
        position++;
      } else {
        at = multiByte(b & 0xff, target, at, end);
      }
    }
    return at == offset && count > 0 ? -1 : at - offset;
  }

  @Override
  public void close() {
    position = to;
  }

  private int multiByte(int lead, char[] target, int at, int end) {
    int size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    int codePoint = lead & (0x7f >> size);
    for (int i = 1; i < size; i++) {
      codePoint = codePoint << 6 | (data[position + i] & 0x3f);
    }
    position += size;
    if (size < 4) {
      target[at] = (char) codePoint;
      return at + 1;
    }
    target[at] = Character.highSurrogate(codePoint);
    if (at + 1 < end) {
      target[at + 1] = Character.lowSurrogate(codePoint);
      return at + 2;
    }
    pending = Character.lowSurrogate(codePoint);
    return at + 1;
  }
}
