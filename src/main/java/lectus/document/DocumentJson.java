package lectus.document;

import java.nio.charset.StandardCharsets;
import java.util.List;
import lectus.attachment.AttachmentList;
import lectus.database.Sequence;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.revision.RevisionText;

/**
 * Writes documents in CouchDB's order of members: {@code _id}, {@code _rev}, the body, {@code
 * _deleted}, {@code _revisions}, {@code _revs_info}, {@code _conflicts}, {@code
 * _deleted_conflicts}, {@code _local_seq}, {@code _attachments}.
 */
public final class DocumentJson {
  private static final byte[] ID = ascii("{\"_id\":");
  private static final byte[] REVISION = ascii(",\"_rev\":");
  private static final byte[] DELETED = ascii(",\"_deleted\":true");

  private DocumentJson() {}

  /** Opens the document; the assembler continues after its revision. */
  public static JsonAssembler open(JsonBuffer out, String id, RevisionId revision) {
    out.raw(ID).string(id).raw(REVISION);
    RevisionText.append(out, revision);
    return new JsonAssembler(out, true);
  }

  /** Appends everything up to {@code _deleted}; the object stays open. */
  public static void append(
      JsonBuffer out, String id, boolean deleted, RevisionId revision, StoredBody body) {
    body.appendTo(open(out, id, revision));
    if (deleted) {
      out.raw(DELETED);
    }
  }

  public static void close(JsonBuffer out) {
    out.octet('}');
  }

  /** Appends the stubs of the attachments, and closes the document. */
  public static void close(JsonBuffer out, AttachmentList attachments) {
    AttachmentStubs.append(out, attachments, false);
    close(out);
  }

  /**
   * Appends {@code "_revisions":{"start":2,"ids":["2ecb…","2df5…"]}}.
   *
   * @param revsLimit the database's limit. A branch written under a higher limit may be longer. As
   *     in CouchDB it is truncated here, while {@code _revs_info} and {@code _revs_diff} show all
   *     of it until the next edit
   */
  public static void appendRevisions(JsonBuffer out, EditBranch branch, int revsLimit) {
    long start = branch.leaf().position();
    out.ascii(",\"_revisions\":{\"start\":").number(start).ascii(",\"ids\":[");
    RevisionText.appendHash(out, branch.leaf().hash(), start);
    int left = revsLimit - 1;
    for (RevisionHash ancestor : branch.ancestors().toList()) {
      if (left-- <= 0) {
        break;
      }
      out.octet(',');
      RevisionText.appendHash(out, ancestor, start);
    }
    out.ascii("]}");
  }

  /** Only a branch's leaf has a body (RFC 004: an update clears its parent's body). */
  public static void appendRevisionsInfo(JsonBuffer out, EditBranch branch) {
    out.ascii(",\"_revs_info\":");
    char separator = '[';
    String status = branch.deleted() ? "deleted" : "available";
    for (RevisionId revision : branch.path()) {
      out.octet(separator).ascii("{\"rev\":");
      RevisionText.append(out, revision);
      out.ascii(",\"status\":\"").ascii(status).ascii("\"}");
      separator = ',';
      status = "missing";
    }
    out.octet(']');
  }

  /**
   * Appends the live leaves that lost, highest first; nothing if there are none.
   *
   * @param branches all of the document's branches, the winner first
   */
  public static void appendConflicts(JsonBuffer out, List<EditBranch> branches) {
    appendLosers(out, "\"_conflicts\":[", branches, false);
  }

  /** Appends the tombstones that lost; otherwise like {@link #appendConflicts}. */
  public static void appendDeletedConflicts(JsonBuffer out, List<EditBranch> branches) {
    appendLosers(out, "\"_deleted_conflicts\":[", branches, true);
  }

  public static void appendLocalSequence(JsonBuffer out, Sequence sequence) {
    out.ascii(",\"_local_seq\":").string(sequence.toString());
  }

  private static void appendLosers(
      JsonBuffer out, String member, List<EditBranch> branches, boolean deleted) {
    if (branches.size() < 2) {
      return;
    }
    List<EditBranch> losers =
        branches.stream().filter(it -> !it.isWinner() && it.deleted() == deleted).toList();
    if (!losers.isEmpty()) {
      out.octet(',').ascii(member);
      out.each(losers, it -> RevisionText.append(out, it.leaf())).octet(']');
    }
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
