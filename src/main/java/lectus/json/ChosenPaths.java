package lectus.json;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * Some paths of a document, which stand for the leaves at and below them, in the order of the
 * store. No path is equal to or below another.
 */
public final class ChosenPaths implements JsonExploder.Choice {
  /** All leaves. */
  public static final ChosenPaths ALL = new ChosenPaths(List.of(new byte[0]));

  public static final ChosenPaths NONE = new ChosenPaths(List.of());

  /** So many are compared one after the other: most paths differ at the first look. */
  private static final int FEW = 8;

  private final List<byte[]> paths;
  private final byte[][] few;

  private ChosenPaths(List<byte[]> paths) {
    this.paths = paths;
    this.few = paths.stream().limit(FEW).toArray(byte[][]::new);
  }

  /** Chooses the leaves at and below any of some paths. */
  public static ChosenPaths of(Collection<byte[]> some) {
    List<byte[]> disjoint = new ArrayList<>(some.size());
    for (byte[] path : some.stream().sorted(Arrays::compareUnsigned).toList()) {
      if (disjoint.isEmpty() || !TupleReader.isAtOrBelow(disjoint.get(disjoint.size() - 1), path)) {
        disjoint.add(path);
      }
    }
    return new ChosenPaths(disjoint);
  }

  /** Chooses the leaves of some fields. */
  public static ChosenPaths ofFields(Collection<FieldPath> fields) {
    List<byte[]> all = new ArrayList<>();
    fields.forEach(field -> all.addAll(field.prefixes()));
    return of(all);
  }

  public List<byte[]> paths() {
    return paths;
  }

  /** Returns the length of the path to which a leaf belongs, in bytes; 0 if it belongs to none. */
  public int lengthAbove(byte[] bytes, int path, int pathEnd) {
    int next = firstBehind(bytes, path, pathEnd);
    return isBelow(next - 1, bytes, path, pathEnd) ? paths.get(next - 1).length : 0;
  }

  /** Whether the path is one of these, or below one. */
  public boolean contain(byte[] bytes, int path, int pathEnd) {
    if (paths.size() <= FEW) {
      for (byte[] one : few) {
        if (TupleReader.isAtOrBelow(one, bytes, path, pathEnd)) {
          return true;
        }
      }
      return false;
    }
    return isBelow(firstBehind(bytes, path, pathEnd) - 1, bytes, path, pathEnd);
  }

  @Override
  public boolean leadsTo(byte[] path, int pathEnd) {
    int next = firstBehind(path, 0, pathEnd);
    return isBelow(next - 1, path, 0, pathEnd) || isAbove(next, path, pathEnd);
  }

  @Override
  public boolean keeps(byte[] path, int pathEnd) {
    return contain(path, 0, pathEnd);
  }

  private boolean isBelow(int number, byte[] bytes, int path, int pathEnd) {
    return number >= 0 && TupleReader.isAtOrBelow(paths.get(number), bytes, path, pathEnd);
  }

  private boolean isAbove(int number, byte[] path, int pathEnd) {
    return number < paths.size()
        && TupleReader.isAtOrBelow(path, pathEnd, paths.get(number), 0, paths.get(number).length);
  }

  /** Returns the number of the first of these paths that comes after a path. */
  private int firstBehind(byte[] bytes, int path, int pathEnd) {
    int from = 0;
    int to = paths.size();
    while (from < to) {
      int middle = (from + to) >>> 1;
      byte[] one = paths.get(middle);
      if (Arrays.compareUnsigned(one, 0, one.length, bytes, path, pathEnd) <= 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }
}
