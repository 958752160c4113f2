package lectus.http.document;

import java.util.Optional;
import lectus.document.DocumentId;
import lectus.document.write.EditOutcome;
import lectus.http.message.Headers;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;

/** The answers to writes of one document. */
final class EditReplies {
  private EditReplies() {}

  /**
   * @param status of a success
   * @param location of the document; null for none
   */
  static Reply of(EditOutcome outcome, int status, String location) {
    if (outcome instanceof EditOutcome.Written written) {
      return stored(status, written.id(), written.revision(), location);
    }
    if (outcome instanceof EditOutcome.Unchanged unchanged) {
      return stored(status, unchanged.id(), unchanged.revision(), location);
    }
    return Reply.error(((EditOutcome.Failed) outcome).error());
  }

  /**
   * Writes of local documents have no ETag: their tag is the digest of the content, not the
   * revision.
   */
  private static Reply stored(int status, String id, RevisionId revision, String location) {
    String rev = revision.toString();
    JsonBuffer json = new JsonBuffer(64 + 2 * id.length() + rev.length());
    appendStored(id, rev, json);
    Reply untagged = Reply.json(status, json);
    Reply reply = DocumentId.isLocal(id) ? untagged : untagged.withEtag(rev);
    return location == null ? reply : reply.with(Headers.LOCATION, location);
  }

  /** Answers {@code batch=ok}: the edit was accepted, and its outcome is not reported. */
  static Reply accepted(String id) {
    return Reply.json(202, new JsonBuffer(64).ascii("{\"ok\":true,\"id\":").string(id).octet('}'));
  }

  static void appendStored(String id, String revision, JsonBuffer out) {
    out.ascii("{\"ok\":true,\"id\":").string(id);
    out.ascii(",\"rev\":").string(revision).octet('}');
  }

  static void appendFailed(EditOutcome.Failed failed, JsonBuffer out) {
    out.ascii("{\"id\":").string(failed.id());
    Optional<RevisionId> revision = failed.revision();
    if (revision.isPresent()) {
      out.ascii(",\"rev\":").string(revision.get().toString());
    }
    out.ascii(",\"error\":").string(failed.error().error());
    out.ascii(",\"reason\":").string(failed.error().reason()).octet('}');
  }

  static void appendWithheld(EditOutcome.Withheld withheld, JsonBuffer out) {
    out.ascii("{\"id\":").string(withheld.id());
    out.ascii(",\"error\":\"aborted\",\"reason\":");
    out.string("Another document of this atomic request failed, so nothing was stored.").octet('}');
  }
}
