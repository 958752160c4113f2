package lectus.json;

/** The type of a document's value, in CouchDB's order of types. */
public enum LeafType {
  /** There is no such value. */
  MISSING,
  NULL,
  FALSE,
  TRUE,
  NUMBER,
  STRING,
  ARRAY,
  OBJECT;

  public boolean isContainer() {
    return this == ARRAY || this == OBJECT;
  }

  public boolean isBoolean() {
    return this == FALSE || this == TRUE;
  }
}
