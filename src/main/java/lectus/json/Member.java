package lectus.json;

/**
 * One member of an object while a document is read: the range of its leaves among the document's,
 * and its size. Maintained by {@link JsonExploder.LeafCollector}. Until the member is complete, the
 * sizes are the document's sizes at its beginning; then they are its own.
 */
final class Member {
  final String name;
  boolean complete;

  /** The index of its first leaf, in the order of arrival. */
  int from;

  /** The index after its last leaf. */
  int to;

  /** Number of key-values that no later member has replaced. */
  int rows;

  long storedBytes;
  long jsonBytes;

  Member(String name) {
    this.name = name;
  }
}
