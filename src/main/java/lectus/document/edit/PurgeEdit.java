package lectus.document.edit;

import java.util.List;
import java.util.Optional;
import lectus.database.UserContext;
import lectus.json.ExplodedBody;
import lectus.revision.EditBranch;
import lectus.store.Fence;

/**
 * Removes leaves of a document with their histories, as if they had never been written. Nothing
 * tells replicators of it.
 *
 * @param leaves which of the document's branches, as the transaction sees them
 */
public record PurgeEdit(String id, Leaves leaves, UserContext by, Optional<Fence> fence)
    implements Edit {

  /** Chooses the branches to remove. */
  @FunctionalInterface
  public interface Leaves {
    /**
     * @param branches all of the document, the winner first; none if there is no document
     */
    List<EditBranch> among(List<EditBranch> branches);
  }

  public PurgeEdit(String id, Leaves leaves) {
    this(id, leaves, UserContext.ANONYMOUS, Optional.empty());
  }

  @Override
  public boolean deleted() {
    return true;
  }

  @Override
  public ExplodedBody body() {
    return ExplodedBody.empty();
  }

  @Override
  public PurgeEdit by(UserContext user) {
    return new PurgeEdit(id, leaves, user, fence);
  }

  /** It has no body. */
  @Override
  public PurgeEdit withBody(ExplodedBody none) {
    return this;
  }

  @Override
  public AttachmentEdits attachments() {
    return AttachmentEdits.NONE;
  }

  @Override
  public PurgeEdit withAttachments(AttachmentEdits none) {
    return this;
  }

  @Override
  public PurgeEdit within(Optional<Fence> other) {
    return new PurgeEdit(id, leaves, by, other);
  }
}
