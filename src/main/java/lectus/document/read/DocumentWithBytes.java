package lectus.document.read;

import java.util.List;
import java.util.OptionalLong;
import lectus.attachment.Attachment;
import lectus.document.AttachmentBytes;
import lectus.document.DatabaseReads;
import lectus.document.FilledBody;
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
      DatabaseReads reads,
      RevisionId revision,
      JsonBuffer json,
      List<Attachment> following,
      String boundary) {
    if (following.isEmpty()) {
      json.octet('\n');
      return new DocumentWithBytes(
          revision, false, OptionalLong.empty(), FilledBody.of(reads, json));
    }
    JsonBuffer parts = new JsonBuffer(json.length());
    RelatedParts.append(parts, boundary, json.toBytes(), following);
    long length = parts.length();
    for (Attachment attachment : following) {
      length += attachment.storedLength() - AttachmentBytes.MARK_BYTES;
    }
    return new DocumentWithBytes(
        revision, true, OptionalLong.of(length), FilledBody.of(reads, parts));
  }
}
