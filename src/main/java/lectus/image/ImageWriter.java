package lectus.image;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.zip.CRC32C;
import lectus.attachment.Digests;
import lectus.database.Sequence;
import lectus.json.JsonBuffer;
import lectus.json.TupleWriter;

/**
 * Writes one image, or one increment, as bytes:
 *
 * <pre>
 * "lectus image" line feed, frames
 * frame = type (1 byte) length of the payload (4) payload CRC-32C of all this (4)
 * </pre>
 *
 * Numbers of several bytes begin with the highest one. The last frame is the end.
 */
public final class ImageWriter {
  static final byte[] MARK = "lectus image\n".getBytes(StandardCharsets.US_ASCII);

  /** Bytes of a frame before its payload. */
  static final int HEAD_BYTES = 5;

  /** Bytes of a frame behind its payload. */
  static final int CHECK_BYTES = 4;

  private static final int USUAL_BYTES = 8 << 10;
  private static final int MOST_KEPT_BYTES = 256 << 10;

  private final MessageDigest sha256 = Digests.sha256();

  /** The frame that is written. */
  private TupleWriter frame = new TupleWriter(USUAL_BYTES);

  private long frames;
  private long documents;
  private long contents;

  /** Appends the first frame. */
  public void begin(ImageFrame.Header header, JsonBuffer out) {
    sha256.update(MARK);
    out.raw(MARK);
    append(header, out);
  }

  /** Appends a frame. */
  public void append(ImageFrame next, JsonBuffer out) {
    encode(next);
    sha256.update(frame.array(), 0, frame.length());
    out.raw(frame.array(), 0, frame.length());
    frames++;
    if (next instanceof ImageFrame.Document) {
      documents++;
    } else if (next instanceof ImageFrame.Content) {
      contents++;
    }
  }

  /** Appends the last frame. */
  public void end(Sequence sequence, JsonBuffer out) {
    encode(new ImageFrame.End(sequence, frames, documents, contents, sha256.digest()));
    out.raw(frame.array(), 0, frame.length());
  }

  private void encode(ImageFrame next) {
    frame = frame.length() > MOST_KEPT_BYTES ? new TupleWriter(USUAL_BYTES) : frame.truncate(0);
    frame.octet(next.type().number());
    number(0);
    next.writeTo(frame);
    put(frame.array(), 1, frame.length() - HEAD_BYTES);
    number(checksum(frame.array(), frame.length()));
  }

  private void number(int number) {
    frame.raw(new byte[Integer.BYTES]);
    put(frame.array(), frame.length() - Integer.BYTES, number);
  }

  static int checksum(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }

  private static void put(byte[] bytes, int at, int number) {
    for (int i = 0; i < Integer.BYTES; i++) {
      bytes[at + i] = (byte) (number >>> (Byte.SIZE * (Integer.BYTES - 1 - i)));
    }
  }

  static int number(byte[] bytes, int at) {
    int number = 0;
    for (byte octet : Arrays.copyOfRange(bytes, at, at + Integer.BYTES)) {
      number = number << Byte.SIZE | (octet & 0xff);
    }
    return number;
  }
}
