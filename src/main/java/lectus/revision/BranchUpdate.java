package lectus.revision;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What an edit does to the edit branches of its document (RFC 001, Update Path): which leaves go,
 * which keys are written, and who wins then.
 *
 * @param formerWinner the winning branch as it was read; empty for a document never written
 * @param winner the winning branch afterwards, with the new branch count, its sequence being
 *     written
 * @param cleared branches whose leaf is a leaf no longer
 * @param written branches to write, the winning one among them: new ones, and those whose part as
 *     winner or loser has changed
 */
public record BranchUpdate(
    Optional<EditBranch> formerWinner,
    EditBranch winner,
    List<EditBranch> cleared,
    List<EditBranch> written) {

  /**
   * @param known branches that were read: the winner, those to be replaced, and every branch that
   *     may win afterwards
   * @param replaced those of {@code known} that go, or change
   * @param added new branches, and changed ones
   */
  public static BranchUpdate of(
      List<EditBranch> known, List<EditBranch> replaced, List<EditBranch> added) {
    EditBranch former = known.stream().filter(EditBranch::isWinner).findFirst().orElse(null);
    EditBranch best = best(known, replaced, added);
    int formerCount = former == null ? 0 : former.winner().branchCount();
    EditBranch winner = best.winning(formerCount - replaced.size() + added.size());
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
        Optional.ofNullable(former), winner, leavesGone(replaced, added), written);
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
