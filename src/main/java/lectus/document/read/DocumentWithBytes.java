package lectus.document.read;

import java.util.List;
import java.util.OptionalLong;
import lectus.attachment.Attachment;
import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;

/**
 * A document with the bytes of its attachments.
 *
 * @param isRelated whether they follow it in parts of their own
 * @param length of the body in bytes, if it is known
 */
public record DocumentWithBytes(
    RevisionId revision, boolean isRelated, OptionalLong length, PagedBody body) {

  static DocumentWithBytes of(
      DatabaseReads reads, RevisionId revision, JsonBuffer json, Inserts inserts, String boundary) {
    List<Attachment> following = inserts.takeFollowing();
    if (following.isEmpty()) {
      json.octet('\n');
      PagedBody body = FilledPages.body(reads, new OnePage(json, inserts));
      return new DocumentWithBytes(revision, false, OptionalLong.empty(), body);
    }
    JsonBuffer page = new JsonBuffer(json.length());
    Inserts parts = new Inserts();
    RelatedParts.append(page, boundary, json.toBytes(), following, parts);
    PagedBody body = FilledPages.body(reads, new OnePage(page, parts));
    return new DocumentWithBytes(revision, true, OptionalLong.of(parts.length(page)), body);
  }

  /** A page that is written already. */
  private record OnePage(JsonBuffer page, Inserts inserts) implements FilledPages {
    @Override
    public boolean appendNext(JsonBuffer out, Inserts to) {
      out.raw(page.array(), 0, page.length());
      to.addAll(inserts);
      return false;
    }
  }
}
