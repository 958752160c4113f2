package lectus.json;

/**
 * One member of an object while a document is read: where its leaves lie among the document's, and
 * what it weighs. Kept by {@link LeafCollector}: until the member is complete, the sizes are the
 * document's at its beginning; then they are its own.
 */
final class Member {
  final String name;
  boolean complete;

  /** The number of its first leaf, in the order in which they came. */
  int from;

  /** The number after its last leaf's. */
  int to;

  /** Key-values that no later member has replaced. */
  int rows;

  long storedBytes;
  long jsonBytes;

  Member(String name) {
    this.name = name;
  }
}
