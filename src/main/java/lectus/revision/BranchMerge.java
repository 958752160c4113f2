package lectus.revision;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.revision.EditBranch.BodySize;

/**
 * Merges replicated revisions ({@code new_edits=false}) into the edit branches of one document, in
 * memory. All branches must have been read, since an arriving path may extend any of them.
 *
 * <p>The branches are a revision tree laid out leaf by leaf. The leaves are the same as if the
 * paths were merged into one tree, whatever the order in which they arrive.
 */
public final class BranchMerge {
  /** Maximum number of leaves that a document can get. Each replicated edit reads all of them. */
  public static final int MAX_LEAVES = 10_000;

  /** Length of the leaves' histories at which a document gets no further leaf, in bytes. */
  private static final long MAX_HISTORY_BYTES = 10_000_000;

  private final List<EditBranch> stored;
  private final List<EditBranch> branches;
  private final int maxAncestors;

  public enum Arrival {
    /** A leaf that was unknown. */
    NEW,
    /**
     * A known revision whose history reaches further back than the stored one, perhaps to a leaf of
     * another branch, which is then no longer a leaf.
     */
    JOINED,
    /** A known revision, leaf or ancestor, whose history is known as well: nothing changes. */
    KNOWN
  }

  /**
   * @param revsLimit number of revisions that a branch keeps, its leaf included
   */
  public BranchMerge(List<EditBranch> stored, int revsLimit) {
    this.stored = stored;
    this.branches = new ArrayList<>(stored);
    this.maxAncestors = revsLimit - 1;
  }

  /**
   * Adds a revision with its history.
   *
   * @param body its size, used if the revision is new
   */
  public Arrival add(RevisionPath path, boolean deleted, BodySize body) {
    List<EditBranch> holders = new ArrayList<>();
    List<EditBranch> extended = new ArrayList<>();
    for (EditBranch branch : branches) {
      if (branch.contains(path.leaf())) {
        holders.add(branch);
      } else if (path.isAncestor(branch.leaf())) {
        extended.add(branch);
      }
    }
    List<RevisionHash> history = history(path);
    branches.removeAll(extended);
    if (holders.isEmpty()) {
      Ancestors ancestors = Ancestors.of(history, maxAncestors);
      branches.add(new EditBranch(path.leaf(), deleted, ancestors, body, null));
      return Arrival.NEW;
    }
    boolean changed = !extended.isEmpty();
    for (EditBranch holder : holders) {
      EditBranch lengthened = lengthened(holder, path.leaf(), history);
      changed |= lengthened != holder;
      branches.set(branches.indexOf(holder), lengthened);
    }
    return changed ? Arrival.JOINED : Arrival.KNOWN;
  }

  /** Whether the revision is a leaf or an ancestor of one. */
  public boolean knows(RevisionId revision) {
    return branches.stream().anyMatch(branch -> branch.contains(revision));
  }

  /** Whether the path has leaves among its ancestors, which will be leaves no longer. */
  public boolean endsBranches(RevisionPath path) {
    return branches.stream().anyMatch(branch -> path.isAncestor(branch.leaf()));
  }

  /**
   * Whether the path would add a leaf to a document that has as many as it may have, or whose
   * leaves have as long histories. To end a leaf and to lengthen a history is always allowed.
   */
  public boolean lacksRoomFor(RevisionPath path) {
    long mostBytes = (long) branches.size() * Ancestors.MAX_BYTES;
    boolean isFull =
        branches.size() >= MAX_LEAVES
            || (mostBytes >= MAX_HISTORY_BYTES
                && branches.stream().mapToLong(it -> it.ancestors().sizeBytes()).sum()
                    >= MAX_HISTORY_BYTES);
    return isFull && !knows(path.leaf()) && !endsBranches(path);
  }

  /** Returns what to write; empty if nothing changed. */
  public Optional<BranchUpdate> update() {
    List<EditBranch> replaced = without(stored, branches);
    List<EditBranch> added = without(branches, stored);
    return replaced.isEmpty() && added.isEmpty()
        ? Optional.empty()
        : Optional.of(BranchUpdate.of(stored, replaced, added));
  }

  /**
   * Returns the path's ancestors and, beyond its oldest revision, those that a branch here knows.
   */
  private List<RevisionHash> history(RevisionPath path) {
    RevisionId oldest = path.oldest();
    List<RevisionHash> history = new ArrayList<>(path.ancestors());
    branches.stream()
        .filter(branch -> branch.contains(oldest))
        .max(Comparator.comparingLong(branch -> branch.length() - branch.leaf().position()))
        .ifPresent(
            branch ->
                branch
                    .ancestors()
                    .addTo(history, (int) (branch.leaf().position() - oldest.position())));
    return history;
  }

  /** Returns the branch with the history of one of its revisions, if that reaches further back. */
  private EditBranch lengthened(EditBranch branch, RevisionId within, List<RevisionHash> history) {
    int depth = (int) (branch.leaf().position() - within.position());
    int known = branch.ancestors().count();
    if (known >= Math.min(depth + history.size(), maxAncestors)) {
      return branch;
    }
    List<RevisionHash> hashes = new ArrayList<>(branch.ancestors().toList().subList(0, depth));
    hashes.addAll(history);
    Ancestors ancestors = Ancestors.of(hashes, maxAncestors);
    return ancestors.count() <= known
        ? branch
        : new EditBranch(
            branch.leaf(), branch.deleted(), ancestors, branch.body(), branch.winner());
  }

  /** Returns those that are not the very same as some others. */
  private static List<EditBranch> without(List<EditBranch> branches, List<EditBranch> others) {
    Set<EditBranch> same = Collections.newSetFromMap(new IdentityHashMap<>(others.size()));
    same.addAll(others);
    return branches.stream().filter(branch -> !same.contains(branch)).toList();
  }
}
