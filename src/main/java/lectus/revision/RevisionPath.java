package lectus.revision;

import java.util.ArrayList;
import java.util.List;

/**
 * A revision and its history, as a replicator sends it.
 *
 * @param ancestors newest first, without gaps: the parent of {@code leaf}, its grandparent, …
 */
public record RevisionPath(RevisionId leaf, List<RevisionHash> ancestors) {
  public RevisionPath {
    ancestors = List.copyOf(ancestors);
    if (leaf.position() - ancestors.size() < 0) {
      throw new IllegalArgumentException("More ancestors than positions before " + leaf);
    }
  }

  /** Returns the path of a revision without a known history. */
  public static RevisionPath of(RevisionId leaf) {
    return new RevisionPath(leaf, List.of());
  }

  /** Returns the path of a child of its leaf. */
  public RevisionPath followedBy(RevisionId child) {
    List<RevisionHash> history = new ArrayList<>(ancestors.size() + 1);
    history.add(leaf.hash());
    history.addAll(ancestors);
    return new RevisionPath(child, history);
  }

  RevisionId oldest() {
    int count = ancestors.size();
    return count == 0 ? leaf : new RevisionId(leaf.position() - count, ancestors.get(count - 1));
  }

  /** Whether the revision is one of the known ancestors of the leaf. */
  public boolean isAncestor(RevisionId revision) {
    long depth = leaf.position() - revision.position() - 1;
    return depth >= 0
        && depth < ancestors.size()
        && ancestors.get((int) depth).equals(revision.hash());
  }
}
