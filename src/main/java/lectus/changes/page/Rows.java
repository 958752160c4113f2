package lectus.changes.page;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import lectus.database.DatabaseName;
import lectus.json.JsonBuffer;

/**
 * Rows of a live source: bare JSON objects in one byte array, which may contain other rows between
 * them. Each row has the point after which a reader continues. Immutable and shared by all
 * receivers; nobody writes to the array.
 *
 * <p>In a source over several databases each row names its database. There, a row without bytes
 * says that its database is gone ({@link #isLeft}).
 */
public final class Rows<P extends ResumePoint<P>> {
  /** Pages end at a few hundred kilobytes, unless a single document takes more. */
  static final int LONG_BYTES = 1 << 20;

  private final byte[] json;
  private final int[] starts;
  private final int[] ends;
  private final List<P> points;
  private final List<DatabaseName> databases;

  Rows(byte[] json, int[] starts, int[] ends, List<P> points, List<DatabaseName> databases) {
    this.json = json;
    this.starts = starts;
    this.ends = ends;
    this.points = points;
    this.databases = databases;
  }

  public static <P extends ResumePoint<P>> Rows<P> none() {
    return new Rows<P>(new byte[0], new int[0], new int[0], List.of(), List.of());
  }

  public int size() {
    return points.size();
  }

  public boolean isEmpty() {
    return points.isEmpty();
  }

  /** Returns the array that contains the bytes of all rows. */
  public byte[] json() {
    return json;
  }

  /**
   * Whether there are more bytes than in an ordinary page. Such rows are never kept for other
   * listeners or for later: a few live feeds of the largest documents would fill the heap.
   */
  public boolean areLong() {
    return json.length > LONG_BYTES;
  }

  /** Returns the offset of a row's first byte. */
  public int start(int row) {
    return starts[row];
  }

  /** Returns the offset after a row's last byte. */
  public int end(int row) {
    return ends[row];
  }

  /** Returns the point after which a reader continues after a row. */
  public P at(int row) {
    return points.get(row);
  }

  /**
   * Returns the database of a row.
   *
   * @throws IndexOutOfBoundsException in a source over one database
   */
  public DatabaseName database(int row) {
    return databases.get(row);
  }

  /** Whether a row only says that its database is gone. */
  public boolean isLeft(int row) {
    return start(row) == end(row);
  }

  /**
   * Returns how many rows from {@code from} on may be delivered to somebody who takes {@code most}
   * changes. That a database is gone is none.
   */
  public int deliverable(int from, long most) {
    if (databases.isEmpty()) {
      return (int) Math.min(size() - from, most);
    }
    long left = most;
    int row = from;
    while (row < size() && (left > 0 || isLeft(row))) {
      left -= isLeft(row) ? 0 : 1;
      row++;
    }
    return row - from;
  }

  /** Returns the number of changes in the rows from {@code from} to {@code to} (exclusive). */
  public int changes(int from, int to) {
    return databases.isEmpty()
        ? to - from
        : (int) IntStream.range(from, to).filter(row -> !isLeft(row)).count();
  }

  /**
   * Returns the number of bytes in the rows from {@code from} (inclusive) to {@code to}
   * (exclusive).
   */
  public int bytes(int from, int to) {
    int bytes = 0;
    for (int row = from; row < to; row++) {
      bytes += ends[row] - starts[row];
    }
    return bytes;
  }

  Rows<P> first(int count) {
    return new Rows<>(
        json,
        Arrays.copyOf(starts, count),
        Arrays.copyOf(ends, count),
        points.subList(0, count),
        databases.isEmpty() ? databases : databases.subList(0, count));
  }

  /**
   * Returns some rows. They share the bytes.
   *
   * @param chosen their indexes, in order
   */
  public Rows<P> only(int[] chosen) {
    return new Rows<>(
        json,
        Arrays.stream(chosen).map(this::start).toArray(),
        Arrays.stream(chosen).map(this::end).toArray(),
        Arrays.stream(chosen).mapToObj(this::at).toList(),
        databases.isEmpty() ? databases : Arrays.stream(chosen).mapToObj(this::database).toList());
  }

  /** Returns the index of the first row after a position; {@link #size} if there is none. */
  public int firstBehind(P position) {
    if (isEmpty() || at(0).compareTo(position) > 0) {
      return 0;
    }
    int low = 1;
    int high = size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (at(middle).compareTo(position) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Builds the rows of one page: each row is written to {@link #json}, then ended. */
  public static final class RowsBuilder<P extends ResumePoint<P>> {
    private final JsonBuffer json;
    private final List<P> points = new ArrayList<>();
    private final List<DatabaseName> databases = new ArrayList<>();
    private int[] ends = new int[16];

    /**
     * @param capacity initial size in bytes
     */
    public RowsBuilder(int capacity) {
      this.json = new JsonBuffer(capacity);
    }

    /** Returns the buffer for the next row, which follows the ended ones. */
    public JsonBuffer json() {
      return json;
    }

    public int size() {
      return points.size();
    }

    /** Ends a row of a source over one database. */
    public void endRow(P at) {
      if (ends.length == points.size()) {
        ends = Arrays.copyOf(ends, 2 * ends.length);
      }
      ends[points.size()] = json.length();
      points.add(at);
    }

    /**
     * Ends a row of a source over several databases. If nothing was written, the row says that the
     * database is gone.
     */
    public void endRow(P at, DatabaseName database) {
      endRow(at);
      databases.add(database);
    }

    /** Drops all rows, because their transaction is retried. */
    public void clear() {
      json.truncate(0);
      points.clear();
      databases.clear();
    }

    public Rows<P> build() {
      int[] starts = new int[points.size()];
      System.arraycopy(ends, 0, starts, Math.min(1, starts.length), Math.max(0, starts.length - 1));
      return new Rows<>(
          json.toBytes(),
          starts,
          Arrays.copyOf(ends, points.size()),
          List.copyOf(points),
          List.copyOf(databases));
    }
  }
}
