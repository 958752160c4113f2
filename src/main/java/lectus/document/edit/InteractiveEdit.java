package lectus.document.edit;

import java.util.Optional;
import lectus.database.UserContext;
import lectus.json.ExplodedBody;
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
}
