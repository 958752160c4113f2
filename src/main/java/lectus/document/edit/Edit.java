package lectus.document.edit;

import lectus.database.UserContext;
import lectus.json.ExplodedBody;

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
}
