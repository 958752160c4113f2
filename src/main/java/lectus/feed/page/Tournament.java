package lectus.feed.page;

import java.util.Comparator;
import java.util.List;

/**
 * Knows the first of several contestants and, after that one has changed, the new first one, with
 * one comparison for each doubling of their number: a tree of losers (Knuth, The Art of Computer
 * Programming, volume 3, section 5.4.1).
 */
final class Tournament<T> {
  private final List<T> contestants;
  private final Comparator<? super T> order;

  /**
   * The loser at each inner node of the tree; node 1 is the root, node i has the children 2i and 2i
   * + 1.
   */
  private final int[] losers;

  private int winner;

  /**
   * @param contestants at least one
   */
  Tournament(List<T> contestants, Comparator<? super T> order) {
    this.contestants = contestants;
    this.order = order;
    this.losers = new int[contestants.size()];
    this.winner = play(1);
  }

  T first() {
    return contestants.get(winner);
  }

  /** Replays the first contestant, which has changed. */
  void replay() {
    int survivor = winner;
    for (int node = (survivor + losers.length) / 2; node >= 1; node /= 2) {
      int rival = losers[node];
      if (isBefore(rival, survivor)) {
        losers[node] = survivor;
        survivor = rival;
      }
    }
    winner = survivor;
  }

  private int play(int node) {
    if (node >= losers.length) {
      return node - losers.length;
    }
    int left = play(2 * node);
    int right = play(2 * node + 1);
    boolean rightWins = isBefore(right, left);
    losers[node] = rightWins ? left : right;
    return rightWins ? right : left;
  }

  private boolean isBefore(int one, int other) {
    return order.compare(contestants.get(one), contestants.get(other)) < 0;
  }
}
