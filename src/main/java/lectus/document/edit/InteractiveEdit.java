package lectus.document.edit;

import java.security.MessageDigest;
import java.util.Optional;
import lectus.attachment.AttachmentList;
import lectus.attachment.Digests;
import lectus.database.UserContext;
import lectus.json.ExplodedBody;
import lectus.json.TupleWriter;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.store.Fence;

/**
 * An interactive edit ({@code new_edits=true}): it adds a child to a revision, which must be a live
 * leaf.
 *
 * @param base the revision that was edited; empty for a new document
 */
public record InteractiveEdit(
    String id,
    Optional<RevisionId> base,
    boolean deleted,
    ExplodedBody body,
    AttachmentEdits attachments,
    UserContext by,
    Optional<Fence> fence)
    implements Edit {

  /** The body's digest is made here, before any transaction. */
  public InteractiveEdit {
    body.digest();
  }

  /** As a client sent it, who is not known yet. */
  static InteractiveEdit of(
      String id,
      Optional<RevisionId> base,
      boolean deleted,
      ExplodedBody body,
      AttachmentEdits attachments) {
    return new InteractiveEdit(
        id, base, deleted, body, attachments, UserContext.ANONYMOUS, Optional.empty());
  }

  public InteractiveEdit(String id, Optional<RevisionId> base, boolean deleted, ExplodedBody body) {
    this(id, base, deleted, body, AttachmentEdits.NONE, UserContext.ANONYMOUS, Optional.empty());
  }

  @Override
  public InteractiveEdit by(UserContext user) {
    return new InteractiveEdit(id, base, deleted, body, attachments, user, fence);
  }

  @Override
  public InteractiveEdit withBody(ExplodedBody other) {
    return new InteractiveEdit(id, base, deleted, other, attachments, by, fence);
  }

  @Override
  public InteractiveEdit withAttachments(AttachmentEdits other) {
    return new InteractiveEdit(id, base, deleted, body, other, by, fence);
  }

  @Override
  public InteractiveEdit within(Optional<Fence> other) {
    return new InteractiveEdit(id, base, deleted, body, attachments, by, other);
  }

  /** A deletion that leaves nothing in the tombstone. */
  public static InteractiveEdit deletion(String id, Optional<RevisionId> base) {
    return new InteractiveEdit(id, base, true, ExplodedBody.empty());
  }

  /**
   * Returns the revision that the edit makes from a parent. Its hash is the MD5 over the tuple
   * (deleted, parent's position, parent's hash), or (deleted, nil) for a first revision, the body's
   * digest ({@link ExplodedBody#digest}) and, by name, type and MD5, the attachments. In the tuple,
   * a parent's hash that is printed as text is a string; any other hash is a byte string. The same
   * edit made on two servers gets the same revision, whatever the order of the members.
   *
   * @param parent empty: there is none
   */
  public RevisionId child(Optional<RevisionId> parent) {
    long position = parent.map(RevisionId::position).orElse(0L) + 1;
    TupleWriter head = new TupleWriter(64).bool(deleted);
    if (parent.isEmpty()) {
      head.nil();
    } else {
      RevisionHash hash = parent.get().hash();
      head.integer(parent.get().position());
      if (hash.odd()) {
        hash.writeAsTextTo(head);
      } else {
        hash.writeTo(head);
      }
    }
    MessageDigest md5 = Digests.md5();
    md5.update(head.toBytes());
    md5.update(body.digest());
    AttachmentList brought = attachments.of(false, position);
    if (!brought.all().isEmpty()) {
      md5.update(brought.identity());
    }
    return new RevisionId(position, RevisionHash.of(md5.digest()));
  }
}
