package lectus.document.write;

import java.security.MessageDigest;
import java.util.Optional;
import lectus.attachment.AttachmentList;
import lectus.attachment.Digests;
import lectus.json.ExplodedBody;
import lectus.json.TupleWriter;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;

/**
 * The hash of a new revision: MD5 over the tuple (deleted, parent's position, parent's hash), or
 * (deleted, nil) for a first revision, the body's digest ({@link ExplodedBody#digest}) and, by
 * name, type and MD5, the attachments. In the tuple, a parent's hash that is printed as text is a
 * string; any other hash is a byte string. The same edit made on two servers gets the same
 * revision, whatever the order of the members. Not thread-safe.
 */
final class RevisionDigest {
  private final MessageDigest md5 = Digests.md5();

  RevisionHash of(
      Optional<RevisionId> parent, boolean deleted, ExplodedBody body, AttachmentList attachments) {
    TupleWriter head = new TupleWriter(64).bool(deleted);
    if (parent.isPresent()) {
      head.integer(parent.get().position());
      append(parent.get().hash(), head);
    } else {
      head.nil();
    }
    md5.update(head.toBytes());
    md5.update(body.digest());
    if (!attachments.all().isEmpty()) {
      md5.update(attachments.identity());
    }
    return RevisionHash.of(md5.digest());
  }

  private static void append(RevisionHash parent, TupleWriter head) {
    if (parent.odd()) {
      parent.writeAsTextTo(head);
    } else {
      parent.writeTo(head);
    }
  }
}
