package lectus.revision;

import java.util.List;
import lectus.json.JsonBuffer;

/**
 * Writes revisions as JSON strings, without creating a Java string: every row of a list has one.
 */
public final class RevisionText {
  private RevisionText() {}

  /** Appends {@code "3-9a…"}, quoted. */
  public static void append(JsonBuffer out, RevisionId revision) {
    if (revision.hash().odd() || revision.position() == 0) {
      out.string(revision.toString());
      return;
    }
    out.octet('"').number(revision.position()).octet('-');
    out.hex(revision.hash().bytes()).octet('"');
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
    out.octet('"').hex(hash.bytes()).octet('"');
  }

  /** Appends a JSON array of revisions. */
  public static void appendAll(JsonBuffer out, List<RevisionId> revisions) {
    out.octet('[').each(revisions, it -> append(out, it)).octet(']');
  }
}
