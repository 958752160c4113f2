package lectus.document.edit;

import lectus.database.UserContext;
import lectus.json.ExplodedBody;
import lectus.revision.RevisionPath;

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
    UserContext by)
    implements Edit {

  public ReplicatedEdit(String id, RevisionPath path, boolean deleted, ExplodedBody body) {
    this(id, path, deleted, body, AttachmentEdits.NONE, UserContext.ANONYMOUS);
  }

  @Override
  public ReplicatedEdit by(UserContext user) {
    return new ReplicatedEdit(id, path, deleted, body, attachments, user);
  }

  @Override
  public ReplicatedEdit withBody(ExplodedBody other) {
    return new ReplicatedEdit(id, path, deleted, other, attachments, by);
  }

  @Override
  public ReplicatedEdit withAttachments(AttachmentEdits other) {
    return new ReplicatedEdit(id, path, deleted, body, other, by);
  }
}
