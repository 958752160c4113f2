package lectus.document;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.attachment.AttachmentList;
import lectus.json.ChosenPaths;
import lectus.json.ExplodedBody;
import lectus.json.Leaf;
import lectus.json.LeafOrder;
import lectus.json.MalformedTupleException;
import lectus.json.PackedLeaves;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;

/**
 * The value of a body's first row, RFC 004's RevisionMetadata. Its format is the enum with which
 * the RFC lets the encoding evolve:
 *
 * <pre>
 * (1)                               each leaf has a row below this one
 * (2, attachments)                  the same, with attachments: {@link AttachmentList}
 * (3) ‖ leaves                      all leaves: {@link PackedLeaves}
 * (4, attachments, nil) ‖ leaves    all leaves, with attachments
 * (5, length)                       the members as JSON text: {@link TextChunks}
 * (6, length, attachments)          the same, with attachments
 * (7) ‖ order                       each leaf has a row below this one: {@link LeafOrder}, because
 *                                   they were not sent in the order of their paths
 * (8, attachments, nil) ‖ order     the same, with attachments
 * </pre>
 */
public final class RevisionMetadata {
  /**
   * Most bytes of packed leaves: the largest of 4, 8, 16 and 32 kB at which a read of one member
   * takes no more than 1.1 times as long as from rows ({@code MemberReadBenchmark}).
   */
  public static final int MAX_INLINE_BYTES = 8_192;

  /** Of the whole value; less than the store's limit of 100 kB. The list alone may take 95 kB. */
  private static final int MAX_BYTES = 90_000;

  /** Enough for most lists of attachments and orders. */
  private static final int USUAL_BYTES = 64;

  private static final int ROWS = 1;
  private static final int ROWS_WITH_ATTACHMENTS = 2;
  private static final int INLINE = 3;
  private static final int TEXT = 5;
  private static final int TEXT_WITH_ATTACHMENTS = 6;
  private static final int ORDERED = 7;
  private static final int ORDERED_WITH_ATTACHMENTS = 8;
  private static final StoredFormat FORMAT =
      new StoredFormat(ORDERED_WITH_ATTACHMENTS, "A document's body");

  private static final byte[] PLAIN = new TupleWriter(4).integer(ROWS).toBytes();

  /** Of a body of which nothing was read. */
  public static final RevisionMetadata NONE =
      new RevisionMetadata(new byte[0], 0, ROWS, 0, AttachmentList.NONE);

  private final byte[] value;
  private final int tail;
  private final int format;
  private final int textBytes;
  private final AttachmentList attachments;

  private RevisionMetadata(
      byte[] value, int tail, int format, int textBytes, AttachmentList attachments) {
    this.value = value;
    this.tail = tail;
    this.format = format;
    this.textBytes = textBytes;
    this.attachments = attachments;
  }

  /** Whether a body's leaves are stored in this row, where the database's layout has such rows. */
  static boolean takes(ExplodedBody body, AttachmentList attachments) {
    long packed = body.packedBytes();
    return packed <= MAX_INLINE_BYTES
        && (attachments.all().isEmpty() || packed + attachments.encodedLength() + 8 <= MAX_BYTES);
  }

  /** Whether the order of the leaves fits into this row. */
  static boolean takesOrder(byte[] order, AttachmentList attachments) {
    return order.length == 0 || order.length + attachments.encodedLength() + 8 <= MAX_BYTES;
  }

  /**
   * Returns the value of a body whose leaves have rows of their own.
   *
   * @param order {@link LeafOrder}
   */
  static byte[] ofRows(byte[] order, AttachmentList attachments) {
    if (order.length > 0) {
      return headed(ORDERED, attachments, USUAL_BYTES).raw(order).toBytes();
    }
    if (attachments.all().isEmpty()) {
      return PLAIN;
    }
    TupleWriter value = new TupleWriter(256).integer(ROWS_WITH_ATTACHMENTS);
    attachments.writeTo(value);
    return value.toBytes();
  }

  /** Begins a value that has more behind the attachments. */
  private static TupleWriter headed(int format, AttachmentList attachments, int bytes) {
    TupleWriter value = new TupleWriter(bytes);
    if (attachments.all().isEmpty()) {
      return value.integer(format);
    }
    attachments.writeTo(value.integer(format + 1));
    return value.nil();
  }

  /** Returns the value of a body whose members lie in chunks. */
  static byte[] ofText(int textBytes, AttachmentList attachments) {
    TupleWriter value = new TupleWriter(64);
    value.integer(attachments.all().isEmpty() ? TEXT : TEXT_WITH_ATTACHMENTS).integer(textBytes);
    attachments.writeTo(value);
    return value.toBytes();
  }

  /** Returns the value with all leaves of a body. */
  static byte[] inline(ExplodedBody body, AttachmentList attachments) {
    int bytes = USUAL_BYTES + (int) body.packedBytes();
    TupleWriter value = headed(INLINE, attachments, bytes);
    PackedLeaves.write(body, value);
    return value.toBytes();
  }

  /**
   * @throws MalformedTupleException if this version does not know the value
   */
  public static RevisionMetadata of(byte[] value) {
    TupleReader reader = new TupleReader(value, 0);
    int format = FORMAT.upTo(reader);
    boolean isAttached = format % 2 == 0;
    int plain = isAttached ? format - 1 : format;
    int textBytes = plain == TEXT ? reader.smallInteger() : 0;
    AttachmentList attachments = isAttached ? AttachmentList.readFrom(reader) : AttachmentList.NONE;
    if (plain != INLINE && plain != ORDERED) {
      reader.end();
    } else if (isAttached) {
      reader.nil();
    }
    return new RevisionMetadata(value, reader.position(), plain, textBytes, attachments);
  }

  public AttachmentList attachments() {
    return attachments;
  }

  /** Whether all leaves are here, and none has a row of its own. */
  public boolean isInline() {
    return format == INLINE;
  }

  /** Returns the leaves that are here, as {@link PackedLeaves}. */
  public byte[] packed() {
    return Arrays.copyOfRange(value, tail, value.length);
  }

  /** Whether the members lie in chunks below this row, and no leaf has a row. */
  public boolean isText() {
    return format == TEXT;
  }

  /** Whether each leaf has a row of its own. */
  public boolean hasLeafRows() {
    return !isInline() && !isText();
  }

  /** Whether the rows of the leaves are not in the order in which the leaves were sent. */
  boolean isOrdered() {
    return format == ORDERED;
  }

  /** Returns the numbers of so many leaves with rows, in the order in which they were sent. */
  int[] order(int count) {
    return LeafOrder.read(value, tail, count);
  }

  /** Returns the length of the text in chunks. */
  public int textBytes() {
    return textBytes;
  }

  /**
   * Returns those of the leaves here that are chosen, in the order in which they were sent.
   *
   * @throws MalformedTupleException if they cannot be read
   */
  public List<Leaf> leaves(ChosenPaths chosen) {
    List<Leaf> some = new ArrayList<>();
    forEachLeaf(
        (packed, path, pathEnd, at, end) -> {
          if (chosen.contain(packed, path, pathEnd)) {
            some.add(
                new Leaf(
                    Arrays.copyOfRange(packed, path, pathEnd),
                    Arrays.copyOfRange(packed, at, end)));
          }
        });
    return some;
  }

  /**
   * Passes on the leaves that are here.
   *
   * @throws MalformedTupleException if they cannot be read
   */
  public void forEachLeaf(PackedLeaves.Sink to) {
    if (isInline()) {
      PackedLeaves.read(value, tail, to);
    }
  }
}
