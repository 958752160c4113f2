package lectus.json;

import java.util.Arrays;
import java.util.List;

/**
 * The order in which a body's leaves were sent, where their rows, which are in the order of their
 * paths, do not tell it. It is a list of runs of leaves that follow each other in both orders:
 *
 * <pre>
 * (number of the run's first leaf in the order of paths, from 0), (number of its leaves)
 * </pre>
 */
public final class LeafOrder {
  private LeafOrder() {}

  /** Returns the order of a body's leaves; nothing if it is that of their paths. */
  public static byte[] of(ExplodedBody body) {
    if (body.isInOrder()) {
      return new byte[0];
    }
    int[] numbers = numbers(body.sent());
    TupleWriter runs = new TupleWriter(64);
    int at = 0;
    while (at < numbers.length) {
      int first = numbers[at];
      int length = 1;
      while (at + length < numbers.length && numbers[at + length] == first + length) {
        length++;
      }
      runs.integer(first).integer(length);
      at += length;
    }
    return runs.toBytes();
  }

  /** Returns the numbers of leaves in the order of their paths. */
  private static int[] numbers(List<Leaf> sent) {
    Integer[] byPath = new Integer[sent.size()];
    Arrays.setAll(byPath, i -> i);
    Arrays.sort(byPath, (a, b) -> Leaf.BY_PATH.compare(sent.get(a), sent.get(b)));
    int[] numbers = new int[byPath.length];
    for (int number = 0; number < byPath.length; number++) {
      numbers[byPath[number]] = number;
    }
    return numbers;
  }

  /**
   * Returns the numbers of leaves, in the order in which they were sent.
   *
   * @param count of the leaves
   * @throws MalformedTupleException if these are no runs of so many leaves
   */
  public static int[] read(byte[] bytes, int from, int count) {
    int[] order = new int[count];
    boolean[] isThere = new boolean[count];
    int filled = 0;
    TupleReader runs = new TupleReader(bytes, from);
    while (runs.hasNext()) {
      int first = runs.smallInteger();
      int length = runs.smallInteger();
      if (first < 0 || length < 1 || first > count - length || filled > count - length) {
        throw wrong(count);
      }
      for (int number = first; number < first + length; number++) {
        if (isThere[number]) {
          throw wrong(count);
        }
        isThere[number] = true;
        order[filled++] = number;
      }
    }
    if (filled < count) {
      throw wrong(count);
    }
    return order;
  }

  private static MalformedTupleException wrong(int count) {
    return new MalformedTupleException("Not the order of " + count + " leaves");
  }
}
