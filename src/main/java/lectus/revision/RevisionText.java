package lectus.revision;

import java.nio.charset.StandardCharsets;
import java.util.List;
import lectus.json.JsonBuffer;

/**
 * Writes revisions as JSON strings, without creating a Java string: every row of a list has one.
 */
public final class RevisionText {
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  private RevisionText() {}

  /** Appends {@code "3-9a…"}, quoted. */
  public static void append(JsonBuffer out, RevisionId revision) {
    if (revision.hash().odd() || revision.position() == 0) {
      out.string(revision.toString());
      return;
    }
    out.octet('"').number(revision.position()).octet('-');
    appendHex(out, revision.hash().bytes());
    out.octet('"');
  }

  /**
   * Appends the part after the dash, quoted.
   *
   * @param position the position of the revision; for ancestors, that of the leaf
   */
  public static void appendHash(JsonBuffer out, RevisionHash hash, long position) {
    if (hash.odd() || position == 0) {
      out.string(hash.text(position));
      return;
    }
    out.octet('"');
    appendHex(out, hash.bytes());
    out.octet('"');
  }

  /** Appends lower-case hex digits. */
  public static void appendHex(JsonBuffer out, byte[] bytes) {
    for (byte b : bytes) {
      out.octet((char) HEX[(b >> 4) & 0xf]).octet((char) HEX[b & 0xf]);
    }
  }

  /** Appends a JSON array of revisions. */
  public static void appendAll(JsonBuffer out, List<RevisionId> revisions) {
    out.octet('[').each(revisions, it -> append(out, it)).octet(']');
  }
}
