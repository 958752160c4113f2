package lectus.revision;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The changes that an edit makes to its document's edit branches (RFC 001, Update Path): leaves to
 * clear, keys to write, and the new winner.
 *
 * @param formerWinner the winning branch as it was read; empty for a document never written
 * @param winner the winning branch afterwards, with the new branch count and the other leaves, if
 *     these are known; its sequence is being written. Empty once the last branch is purged
 * @param cleared branches whose leaf is no longer a leaf
 * @param written branches to write, the winner among them: new ones, and those that became winner
 *     or loser
 */
public record BranchUpdate(
    Optional<EditBranch> formerWinner,
    Optional<EditBranch> winner,
    List<EditBranch> cleared,
    List<EditBranch> written) {

  /**
   * @param known branches that were read: the winner, those to be replaced, and every branch that
   *     may win afterwards
   * @param replaced those of {@code known} that are cleared or changed
   * @param added new and changed branches
   */
  public static BranchUpdate of(
      List<EditBranch> known, List<EditBranch> replaced, List<EditBranch> added) {
    EditBranch former = known.stream().filter(EditBranch::isWinner).findFirst().orElse(null);
    EditBranch best = best(known, replaced, added);
    if (best == null) {
      return new BranchUpdate(
          Optional.ofNullable(former), Optional.empty(), List.copyOf(replaced), List.of());
    }
    int formerCount = former == null ? 0 : former.winner().branchCount();
    List<EditBranch> losing = losing(best, known, replaced, added);
    Optional<OtherLeaves> others =
        known.size() == formerCount
            ? OtherLeaves.of(losing)
            : former
                .winner()
                .others()
                .flatMap(it -> it.without(losers(known)))
                .flatMap(it -> it.with(losing));
    EditBranch winner = best.winning(formerCount - replaced.size() + added.size(), others);
    List<EditBranch> written = new ArrayList<>(added.size() + 2);
    written.add(winner);
    for (EditBranch branch : added) {
      if (branch != best) {
        written.add(branch.losing());
      }
    }
    if (former != null && former != best && !holds(replaced, former)) {
      written.add(former.losing());
    }
    return new BranchUpdate(
        Optional.ofNullable(former), Optional.of(winner), leavesGone(replaced, added), written);
  }

  /** Returns which of the branches lose now. */
  private static List<EditBranch> losing(
      EditBranch best, List<EditBranch> known, List<EditBranch> replaced, List<EditBranch> added) {
    List<EditBranch> losing = new ArrayList<>(known.size() + added.size());
    for (EditBranch branch : known) {
      if (branch != best && !holds(replaced, branch)) {
        losing.add(branch);
      }
    }
    for (EditBranch branch : added) {
      if (branch != best) {
        losing.add(branch);
      }
    }
    return losing;
  }

  private static List<EditBranch> losers(List<EditBranch> known) {
    return known.stream().filter(branch -> !branch.isWinner()).toList();
  }

  private static EditBranch best(
      List<EditBranch> known, List<EditBranch> replaced, List<EditBranch> added) {
    EditBranch best = null;
    for (EditBranch branch : added) {
      best = best == null || branch.beats(best) ? branch : best;
    }
    for (EditBranch branch : known) {
      boolean stays = !holds(replaced, branch);
      best = stays && (best == null || branch.beats(best)) ? branch : best;
    }
    return best;
  }

  private static List<EditBranch> leavesGone(List<EditBranch> replaced, List<EditBranch> added) {
    List<EditBranch> gone = new ArrayList<>(replaced.size());
    for (EditBranch branch : replaced) {
      if (added.stream().noneMatch(other -> other.leaf().equals(branch.leaf()))) {
        gone.add(branch);
      }
    }
    return gone;
  }

  private static boolean holds(List<EditBranch> branches, EditBranch wanted) {
    for (EditBranch branch : branches) {
      if (branch == wanted) {
        return true;
      }
    }
    return false;
  }
}
