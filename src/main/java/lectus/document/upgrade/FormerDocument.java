package lectus.document.upgrade;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.database.DatabaseConfiguration;
import lectus.revision.BranchMerge;
import lectus.revision.BranchUpdate;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;
import lectus.revision.StoredBranch;

/**
 * The edit branches of a document of the first format, and their form once hashes are bytes. The
 * first format distinguished a text of 16 bytes from a hash of the same bytes; now they are equal.
 * So two branches may turn out to be one, or one may continue the other. Of two equal branches, a
 * live leaf is kept rather than a tombstone, so that no document vanishes; otherwise the one that
 * had the hash is kept.
 */
final class FormerDocument {
  private static final Comparator<StoredBranch> FIRST_TO_STAY =
      Comparator.comparing((StoredBranch it) -> it.branch().deleted())
          .thenComparing(StoredBranch::hasTextKey);

  private final List<StoredBranch> stored;

  /** The new form of each branch that is kept; the winner has its new branch count. */
  private final Map<StoredBranch, EditBranch> kept = new IdentityHashMap<>();

  FormerDocument(List<StoredBranch> stored) {
    this.stored = stored.stream().sorted(FIRST_TO_STAY).toList();
    Map<RevisionId, EditBranch> afterwards = new HashMap<>();
    for (EditBranch branch : afterwards()) {
      afterwards.put(branch.leaf(), branch);
    }
    for (StoredBranch branch : this.stored) {
      EditBranch its = afterwards.get(branch.branch().leaf());
      if (its != null && its.deleted() == branch.branch().deleted()) {
        kept.put(branch, its);
        afterwards.remove(its.leaf());
      }
    }
  }

  private List<EditBranch> afterwards() {
    if (stored.isEmpty()) {
      return List.of();
    }
    if (stored.stream().noneMatch(StoredBranch::mayMeetAnother)) {
      List<EditBranch> all = stored.stream().map(StoredBranch::branch).toList();
      return BranchUpdate.of(List.of(), List.of(), all).written();
    }
    BranchMerge merge = new BranchMerge(List.of(), DatabaseConfiguration.MAX_REVS_LIMIT);
    for (StoredBranch it : stored) {
      EditBranch branch = it.branch();
      RevisionPath path = new RevisionPath(branch.leaf(), branch.ancestors().toList());
      merge.add(path, branch.deleted(), branch.body());
    }
    return merge.update().orElseThrow().written();
  }

  /** Returns the branches, ordered by which of two equal ones is kept. */
  List<StoredBranch> stored() {
    return stored;
  }

  /** Returns the branches that lie under keys of the first format. */
  List<StoredBranch> texts() {
    return stored.stream().filter(StoredBranch::hasTextKey).toList();
  }

  /**
   * Returns the branches that may move before the others: losing ones that are kept, except the
   * last.
   */
  List<StoredBranch> movable() {
    List<StoredBranch> texts = texts();
    List<StoredBranch> movable = new ArrayList<>();
    for (StoredBranch text : texts) {
      if (!text.branch().isWinner() && kept.containsKey(text)) {
        movable.add(text);
      }
    }
    return movable.size() < texts.size() ? movable : movable.subList(0, movable.size() - 1);
  }

  boolean keeps(StoredBranch branch) {
    return kept.containsKey(branch);
  }

  /**
   * Returns what to write besides moving keys. Empty if the same branch still wins over the same
   * others, and if no branch is marked as the winner, which is damage for the auditor to report.
   *
   * @param cleared branches under keys of the current format that are not kept
   */
  Optional<BranchUpdate> change(List<EditBranch> cleared) {
    Optional<EditBranch> former = marked();
    List<EditBranch> written = new ArrayList<>();
    boolean isSettled = kept.size() == stored.size();
    for (Map.Entry<StoredBranch, EditBranch> it : kept.entrySet()) {
      EditBranch before = it.getKey().branch();
      EditBranch now = it.getValue();
      boolean isLonger = !now.ancestors().equals(before.ancestors());
      if (now.isWinner() || before.isWinner() || isLonger) {
        written.add(now);
      }
      isSettled &= now.isWinner() == before.isWinner() && !isLonger;
    }
    if (isSettled || former.isEmpty()) {
      return Optional.empty();
    }
    EditBranch winner = written.stream().filter(EditBranch::isWinner).findFirst().orElseThrow();
    return Optional.of(new BranchUpdate(former, Optional.of(winner), cleared, written));
  }

  private Optional<EditBranch> marked() {
    return stored.stream().map(StoredBranch::branch).filter(EditBranch::isWinner).findFirst();
  }
}
