package lectus.document.edit;

import java.util.Optional;
import lectus.json.ExplodedBody;
import lectus.revision.RevisionId;

/**
 * An interactive edit ({@code new_edits=true}): it makes a child of a revision that must be a live
 * leaf.
 *
 * @param base the revision it was made from; empty for a new document
 */
public record DocumentEdit(String id, Optional<RevisionId> base, boolean deleted, ExplodedBody body)
    implements Edit {

  /** A deletion that leaves nothing in the tombstone. */
  public static DocumentEdit deletion(String id, Optional<RevisionId> base) {
    return new DocumentEdit(id, base, true, ExplodedBody.empty());
  }
}
