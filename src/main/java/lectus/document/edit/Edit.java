package lectus.document.edit;

import java.util.Optional;
import lectus.database.UserContext;
import lectus.json.ExplodedBody;
import lectus.store.Fence;

/** One edit of one document, parsed and checked. */
public sealed interface Edit permits InteractiveEdit, ReplicatedEdit, LocalEdit, PurgeEdit {
  String id();

  /** Whether the edit makes a tombstone, or removes what it is about. */
  boolean deleted();

  /** Returns the members that are not reserved. */
  ExplodedBody body();

  /**
   * Returns who makes it. An edit that names nobody is anybody's; the server's own say so ({@link
   * UserContext#SERVER}).
   */
  UserContext by();

  Edit by(UserContext user);

  Edit withBody(ExplodedBody other);

  AttachmentEdits attachments();

  Edit withAttachments(AttachmentEdits other);

  /**
   * Returns what must hold in the transaction that stores the edit; else the edit fails, and the
   * others of its batch stand. Empty for the edits of clients.
   */
  Optional<Fence> fence();

  Edit within(Optional<Fence> other);
}
