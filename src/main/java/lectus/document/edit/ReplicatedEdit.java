package lectus.document.edit;

import lectus.access.UserContext;
import lectus.json.ExplodedBody;
import lectus.revision.RevisionPath;

/**
 * A revision that was made elsewhere ({@code new_edits=false}). It comes with its id and the known
 * part of its history.
 */
public record ReplicatedEdit(
    String id, RevisionPath path, boolean deleted, ExplodedBody body, UserContext by)
    implements Edit {

  public ReplicatedEdit(String id, RevisionPath path, boolean deleted, ExplodedBody body) {
    this(id, path, deleted, body, UserContext.ANONYMOUS);
  }

  @Override
  public ReplicatedEdit by(UserContext user) {
    return new ReplicatedEdit(id, path, deleted, body, user);
  }

  @Override
  public ReplicatedEdit withBody(ExplodedBody other) {
    return new ReplicatedEdit(id, path, deleted, other, by);
  }
}
