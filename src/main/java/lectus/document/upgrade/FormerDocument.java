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
 * The edit branches of a document of the first format, and what becomes of them when hashes are
 * bytes. The first format told a text of 16 bytes from the hash of the same bytes; now they are the
 * same. So two branches may turn out to be one, or one may continue the other. Of two that are one,
 * a live leaf stays rather than a tombstone, so that no document vanishes; else the one stays that
 * had the hash.
 */
final class FormerDocument {
  private static final Comparator<StoredBranch> FIRST_TO_STAY =
      Comparator.comparing((StoredBranch it) -> it.branch().deleted())
          .thenComparing(StoredBranch::hasTextKey);

  private final List<StoredBranch> stored;

  /** What each branch that stays is afterwards, the winner with its new branch count. */
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

  /** In the order in which they stay where two are one. */
  List<StoredBranch> stored() {
    return stored;
  }

  /** Branches that lie under keys of the first format. */
  List<StoredBranch> texts() {
    return stored.stream().filter(StoredBranch::hasTextKey).toList();
  }

  /** Branches that may move before the others: losing ones that stay, and not the last of all. */
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
   * What is to be written beside moving keys; empty if the same branch wins over the same others,
   * and where none is marked as the winner, which is damage for the auditor to tell.
   *
   * @param cleared branches under keys of the current format that do not stay
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
    return Optional.of(new BranchUpdate(former, winner, cleared, written));
  }

  private Optional<EditBranch> marked() {
    return stored.stream().map(StoredBranch::branch).filter(EditBranch::isWinner).findFirst();
  }
}
