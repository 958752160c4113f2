package lectus.document.read;

import java.nio.charset.StandardCharsets;
import lectus.document.RowParts;
import lectus.document.RowParts.PageLimits;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.revision.RevisionId;
import lectus.revision.RevisionText;

/** Writes the rows of one part of a list. */
final class ListRowWriter implements RowParts.Frame<AllDocsRow> {
  private static final byte[] SEPARATOR = ascii(",\r\n");
  private static final byte[] ID = ascii("{\"id\":");
  private static final byte[] KEY = ascii(",\"key\":");
  private static final byte[] REVISION = ascii(",\"value\":{\"rev\":");
  private static final byte[] DELETED = ascii(",\"deleted\":true");
  private static final byte[] DOCUMENT = ascii(",\"doc\":");
  private static final byte[] NOT_FOUND = ascii(",\"error\":\"not_found\"}");

  private final JsonBuffer out;
  private final PageLimits limits;
  private final int enough;
  private boolean separate;
  private int framed;

  /**
   * @param separate whether another row precedes this part
   */
  ListRowWriter(JsonBuffer out, PageLimits limits, boolean separate) {
    this.out = out;
    this.limits = limits;
    this.enough = out.length() + limits.bytes();
    this.separate = separate;
  }

  JsonBuffer out() {
    return out;
  }

  PageLimits limits() {
    return limits;
  }

  /** Returns the buffer length at which the part is full. */
  int fullAt() {
    return enough;
  }

  boolean isFull() {
    return out.length() >= enough;
  }

  boolean hasRows() {
    return separate;
  }

  /** Opens a row: {@code {"id":"a","key":"a","value":{"rev":"3-x"}}; the caller closes it. */
  void open(String id, RevisionId revision, boolean deleted) {
    separate();
    open(out, id, revision, deleted);
  }

  /** Opens a row without the separator from the previous row. */
  static void open(JsonBuffer out, String id, RevisionId revision, boolean deleted) {
    out.raw(ID);
    int from = out.length();
    out.string(id);
    int to = out.length();
    out.raw(KEY).raw(out.array(), from, to).raw(REVISION);
    RevisionText.append(out, revision);
    if (deleted) {
      out.raw(DELETED);
    }
    out.octet('}');
  }

  void beginDocument() {
    beginDocument(out);
  }

  static void beginDocument(JsonBuffer out) {
    out.raw(DOCUMENT);
  }

  void close() {
    out.octet('}');
  }

  /** Writes {@code {"key":"none","error":"not_found"}}. */
  void notFound(JsonValue key) {
    separate();
    out.octet('{').raw(KEY, 1, KEY.length);
    key.writeTo(out);
    out.raw(NOT_FOUND);
  }

  /** Separates a row that is written elsewhere. */
  @Override
  public void before(AllDocsRow row) {
    separate();
  }

  @Override
  public void after(AllDocsRow row) {
    framed++;
  }

  /** Returns the number of rows written elsewhere. */
  int framed() {
    return framed;
  }

  private void separate() {
    if (separate) {
      out.raw(SEPARATOR);
    }
    separate = true;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
