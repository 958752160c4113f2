package lectus.derived.rows;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lectus.document.read.SelectedDocuments;
import lectus.json.ExplodedBody;
import lectus.json.LeafView;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/** What stored feeds look at in the leaves of one document. Each is read once. */
final class DocumentLeaves {
  private final SelectedDocuments documents;
  private final String id;
  private final Map<Leaf, SelectedDocuments.Started> started = new HashMap<>();
  private final Map<Leaf, LeafView> views = new HashMap<>();

  /** What tells the leaves of a document apart. */
  record Leaf(RevisionId revision, boolean deleted) {
    static Leaf of(EditBranch branch) {
      return new Leaf(branch.leaf(), branch.deleted());
    }
  }

  DocumentLeaves(SelectedDocuments documents, String id) {
    this.documents = documents;
    this.id = id;
  }

  /** Starts to read a leaf that is stored. */
  void start(EditBranch branch) {
    started.computeIfAbsent(
        Leaf.of(branch), leaf -> documents.start(id, leaf.deleted, leaf.revision));
  }

  /** Takes a leaf that is not stored yet. */
  void take(EditBranch branch, ExplodedBody body) {
    views.put(Leaf.of(branch), documents.leaves(id, branch.deleted(), branch.leaf(), body));
  }

  /** Returns leaves that were started or taken, in the same order. */
  List<LeafView> of(List<EditBranch> branches) {
    List<LeafView> leaves = new ArrayList<>(branches.size());
    for (EditBranch branch : branches) {
      leaves.add(
          views.computeIfAbsent(Leaf.of(branch), leaf -> documents.leaves(started.get(leaf))));
    }
    return leaves;
  }
}
