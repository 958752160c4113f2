package lectus.derived;

/** An index of a database. */
public final class StoredIndex {
  private final long number;
  private final IndexDefinition definition;
  private final boolean isReadable;
  private final IndexedValues values;

  /**
   * @param number tells it from all other indexes that the database has or had
   * @param isReadable whether all documents are in it; before, it is only written
   */
  public StoredIndex(long number, IndexDefinition definition, boolean isReadable) {
    this.number = number;
    this.definition = definition;
    this.isReadable = isReadable;
    this.values = new IndexedValues(definition);
  }

  public long number() {
    return number;
  }

  public IndexDefinition definition() {
    return definition;
  }

  public boolean isReadable() {
    return isReadable;
  }

  /** Returns what the index has of documents. */
  public IndexedValues values() {
    return values;
  }

  /** Returns the index once all documents are in it. */
  public StoredIndex readable() {
    return new StoredIndex(number, definition, true);
  }
}
