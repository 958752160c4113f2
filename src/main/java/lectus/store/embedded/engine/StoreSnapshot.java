package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.error.FoundationDbError;
import org.rocksdb.ReadOptions;

/**
 * The store at one version, for one holder, who closes it. The last holder of a state frees the
 * native snapshot. Every read enters a gate, so neither {@link #close} nor the expiry of the window
 * frees anything under a running read. Cursors that no read is using end immediately.
 */
public final class StoreSnapshot implements AutoCloseable {
  /** How far behind the newest version a transaction may be: 5 s at 1 000 000 versions a second. */
  public static final long WINDOW_VERSIONS = 5_000_000;

  private final long version;
  private final StoreState state;
  private final SnapshotRegistry registry;
  private final UseCount gate = new UseCount();
  private final List<RocksCursor> cursors = new ArrayList<>(1);

  StoreSnapshot(long version, StoreState state, SnapshotRegistry registry) {
    this.version = version;
    this.state = state;
    this.registry = registry;
  }

  public long version() {
    return version;
  }

  /** Returns the stored value, or null. */
  public byte[] get(byte[] key) {
    return get(state.pointReads(), key);
  }

  /**
   * Returns the stored value, or null.
   *
   * @throws lectus.error.NotInMemoryException if the disk would have to be read
   */
  public byte[] getFromMemory(byte[] key) {
    return get(state.memoryReads(), key);
  }

  private byte[] get(ReadOptions options, byte[] key) {
    enter();
    try {
      return registry.reader().get(state, options, key);
    } finally {
      exit();
    }
  }

  /** Returns the versionstamp last written to FF/metadataVersion, 10 bytes, or null. */
  public byte[] metadataVersion() {
    byte[] stamp = state.metadataVersion();
    return stamp == null ? null : stamp.clone();
  }

  /** Returns the stored rows of {@code [begin, end)}. {@code reverse} walks from the end. */
  public Cursor scan(byte[] begin, byte[] end, boolean reverse) {
    return scan(begin, end, reverse, Integer.MAX_VALUE);
  }

  /**
   * Returns the stored rows of {@code [begin, end)}. {@code reverse} walks from the end.
   *
   * @param rows a hint of the most rows that the caller takes: the cursor still yields all rows,
   *     but a few from the end can be read faster than a whole short range
   */
  public Cursor scan(byte[] begin, byte[] end, boolean reverse, int rows) {
    if (Arrays.compareUnsigned(begin, end) >= 0) {
      return EmptyCursor.INSTANCE;
    }
    enter();
    RocksCursor cursor;
    try {
      cursor = registry.reader().scan(this, begin, end, reverse, rows);
    } catch (RuntimeException | Error failure) {
      exit();
      throw failure;
    }
    return own(cursor);
  }

  @Override
  public void close() {
    end(UseCount.CLOSED);
  }

  /** Ends a use of the state, for example a cursor's. */
  void exit() {
    if (gate.exit()) {
      registry.release(state);
    }
  }

  private void enter() {
    int marks = gate.enter();
    if (marks != UseCount.OPEN) {
      throw refusal(marks);
    }
    if (registry.isOutOfWindow(version)) {
      exit();
      throw FoundationDbError.TRANSACTION_TOO_OLD.exception();
    }
  }

  /** Returns the exception for a use that finds such marks. */
  static FDBException refusal(int marks) {
    return (marks & UseCount.EXPIRED) != 0
        ? FoundationDbError.TRANSACTION_TOO_OLD.exception()
        : FoundationDbError.TRANSACTION_CANCELLED.exception();
  }

  boolean isOutOfWindow() {
    return registry.isOutOfWindow(version);
  }

  void forget(RocksCursor cursor) {
    synchronized (cursors) {
      cursors.remove(cursor);
    }
  }

  StoreState state() {
    return state;
  }

  private Cursor own(RocksCursor cursor) {
    try {
      synchronized (cursors) {
        cursors.add(cursor);
      }
    } catch (Error noMemory) {
      cursor.close();
      throw noMemory;
    }
    int marks = gate.marks();
    if (marks != UseCount.OPEN) {
      cursor.end(marks);
    }
    return cursor;
  }

  /**
   * Ends the snapshot, whether or not it is still used.
   *
   * @param mark EXPIRED if it fell out of the window, CLOSED if it is no longer needed
   */
  void end(int mark) {
    if (gate.mark(mark)) {
      registry.release(state);
    }
    registry.forget(this);
    List<RocksCursor> left;
    synchronized (cursors) {
      left = List.copyOf(cursors);
    }
    left.forEach(cursor -> cursor.end(mark));
  }

  /** The cursor of a range that can hold no rows. */
  private static final class EmptyCursor implements Cursor {
    static final EmptyCursor INSTANCE = new EmptyCursor();

    private EmptyCursor() {}

    @Override
    public boolean next() {
      return false;
    }

    @Override
    public byte[] key() {
      throw new IllegalStateException("The cursor is not at a row");
    }

    @Override
    public byte[] value() {
      throw new IllegalStateException("The cursor is not at a row");
    }

    @Override
    public void close() {}
  }

  /** Walks the stored keys of one range of one snapshot, forward or backward. */
  public interface Cursor extends AutoCloseable {
    /** Steps to the next row. Returns false at the end. */
    boolean next();

    /** Returns the key of the row to which it stepped, which is the caller's. */
    byte[] key();

    /** Returns that row's value, which is the caller's, too. */
    byte[] value();

    @Override
    void close();
  }
}
