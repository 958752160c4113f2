package lectus.document.write;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.revision.RevisionId;

/**
 * One document as CouchDB's users imagine it: a whole tree of revisions. Deliberately naive, and
 * without anything in common with edit branches.
 */
final class RevisionTreeModel {
  private final Map<RevisionId, Node> nodes = new HashMap<>();

  private static final class Node {
    private RevisionId parent;
    private final boolean deleted;

    private Node(RevisionId parent, boolean deleted) {
      this.parent = parent;
      this.deleted = deleted;
    }
  }

  /** Returns all revisions ever added, in a fixed order. */
  List<RevisionId> revisions() {
    return nodes.keySet().stream().sorted().toList();
  }

  /** Returns the leaves, the winner first. */
  List<RevisionId> leaves() {
    Set<RevisionId> leaves = new HashSet<>(nodes.keySet());
    nodes.values().forEach(node -> leaves.remove(node.parent));
    List<RevisionId> sorted = new ArrayList<>(leaves);
    sorted.sort(
        Comparator.comparing(this::isDeleted)
            .thenComparing(Comparator.comparing((RevisionId it) -> it).reversed()));
    return sorted;
  }

  boolean isDeleted(RevisionId revision) {
    return nodes.get(revision).deleted;
  }

  /** Returns the revision, then its ancestors, newest first. */
  List<RevisionId> path(RevisionId revision) {
    List<RevisionId> path = new ArrayList<>();
    for (RevisionId at = revision; at != null; at = nodes.get(at).parent) {
      path.add(at);
    }
    return path;
  }

  /** Returns the parent for an interactive edit; empty if the edit is a conflict. */
  Optional<Parent> parentFor(Optional<RevisionId> base, boolean deletion) {
    List<RevisionId> leaves = leaves();
    if (base.isPresent()) {
      boolean isLiveLeaf = leaves.contains(base.get()) && !isDeleted(base.get());
      return isLiveLeaf ? Optional.of(new Parent(base)) : Optional.empty();
    }
    if (leaves.isEmpty()) {
      return Optional.of(new Parent(Optional.empty()));
    }
    return isDeleted(leaves.get(0)) && !deletion
        ? Optional.of(new Parent(Optional.of(leaves.get(0))))
        : Optional.empty();
  }

  /** A revision to extend, or the root. */
  record Parent(Optional<RevisionId> revision) {
    long position() {
      return revision.map(RevisionId::position).orElse(0L);
    }
  }

  void add(RevisionId revision, Parent parent, boolean deleted) {
    nodes.put(revision, new Node(parent.revision().orElse(null), deleted));
  }

  /** Removes a leaf, and those of its ancestors that have no other descendants. */
  void purge(RevisionId leaf) {
    RevisionId at = leaf;
    while (at != null && !isParent(at)) {
      at = nodes.remove(at).parent;
    }
  }

  private boolean isParent(RevisionId revision) {
    return nodes.values().stream().anyMatch(node -> revision.equals(node.parent));
  }

  /** Adds the missing revisions of a path, and connects existing ones. */
  void merge(List<RevisionId> path, boolean deleted) {
    for (int i = path.size() - 1; i >= 0; i--) {
      RevisionId parent = i + 1 < path.size() ? path.get(i + 1) : null;
      boolean isTombstone = i == 0 && deleted;
      Node node = nodes.computeIfAbsent(path.get(i), it -> new Node(parent, isTombstone));
      node.parent = node.parent == null ? parent : node.parent;
    }
  }
}
