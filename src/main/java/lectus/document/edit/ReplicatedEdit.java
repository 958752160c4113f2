package lectus.document.edit;

import java.util.Optional;
import lectus.database.UserContext;
import lectus.json.ExplodedBody;
import lectus.revision.RevisionPath;
import lectus.store.Fence;

/**
 * A revision that was made elsewhere ({@code new_edits=false}). It comes with its id and the known
 * part of its history.
 */
public record ReplicatedEdit(
    String id,
    RevisionPath path,
    boolean deleted,
    ExplodedBody body,
    AttachmentEdits attachments,
    UserContext by,
    Optional<Fence> fence)
    implements Edit {

  public ReplicatedEdit(String id, RevisionPath path, boolean deleted, ExplodedBody body) {
    this(id, path, deleted, body, AttachmentEdits.NONE, UserContext.ANONYMOUS, Optional.empty());
  }

  @Override
  public ReplicatedEdit by(UserContext user) {
    return new ReplicatedEdit(id, path, deleted, body, attachments, user, fence);
  }

  @Override
  public ReplicatedEdit withBody(ExplodedBody other) {
    return new ReplicatedEdit(id, path, deleted, other, attachments, by, fence);
  }

  @Override
  public ReplicatedEdit withAttachments(AttachmentEdits other) {
    return new ReplicatedEdit(id, path, deleted, body, other, by, fence);
  }

  @Override
  public ReplicatedEdit within(Optional<Fence> other) {
    return new ReplicatedEdit(id, path, deleted, body, attachments, by, other);
  }
}
