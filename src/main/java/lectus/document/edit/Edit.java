package lectus.document.edit;

import lectus.json.ExplodedBody;

/** One edit of one document, parsed and checked. */
public sealed interface Edit permits InteractiveEdit, ReplicatedEdit, LocalEdit {
  String id();

  /** Whether the edit makes a tombstone, or removes a local document. */
  boolean deleted();

  /** Returns the members that are not reserved. */
  ExplodedBody body();
}
