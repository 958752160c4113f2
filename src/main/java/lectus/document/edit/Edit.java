package lectus.document.edit;

import lectus.json.ExplodedBody;

/** One edit of one document, parsed and checked, as a client sends it. */
public sealed interface Edit permits DocumentEdit, ReplicatedEdit, LocalEdit {
  String id();

  /** Whether the edit makes a tombstone, or removes a local document. */
  boolean deleted();

  /** The members that are not reserved. */
  ExplodedBody body();
}
