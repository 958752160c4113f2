package lectus.mango.query;

import lectus.document.DocumentId;

/** The names of design documents, with and without what their ids begin with. */
public final class DesignNames {
  private DesignNames() {}

  /** Returns the id of a design document that is named with or without its beginning. */
  public static String idOf(String name) {
    return DocumentId.isDesign(name) ? name : DocumentId.DESIGN_PREFIX + name;
  }

  /** Returns the name without the id's beginning. */
  static String bare(String name) {
    return DocumentId.isDesign(name) ? name.substring(DocumentId.DESIGN_PREFIX.length()) : name;
  }
}
