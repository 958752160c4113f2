package lectus.store.contract;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import lectus.store.Store;

/**
 * One test's part of the key space, and the transactions it opens there. As the contract requires,
 * the transaction under test takes its read version first; what {@link #committed others commit}
 * comes after that.
 */
final class Scratch implements AutoCloseable {
  static final byte[] FF = {(byte) 0xff};
  static final byte[] EMPTY = {};

  private final Store store;
  private final byte[] prefix;
  private final Deque<Transaction> open = new ArrayDeque<>();
  private int unrelated;

  Scratch(Store store) {
    this.store = store;
    this.prefix = store.directory().pack(7L);
  }

  Database database() {
    return store.database();
  }

  byte[] prefix() {
    return prefix.clone();
  }

  Range all() {
    return Range.startsWith(prefix);
  }

  byte[] key(String suffix) {
    return ByteArrayUtil.join(prefix, bytes(suffix));
  }

  /** Returns a key of exactly {@code length} bytes. */
  byte[] keyOfLength(int length) {
    byte[] key = Arrays.copyOf(prefix, length);
    Arrays.fill(key, prefix.length, length, (byte) 'k');
    return key;
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  static byte[] value(int length) {
    byte[] value = new byte[length];
    Arrays.fill(value, (byte) 'v');
    return value;
  }

  /** Returns a transaction that is closed with the test. */
  Transaction begin() {
    return closing(database().createTransaction());
  }

  /** Returns a transaction that has its read version. */
  Transaction started() {
    Transaction transaction = begin();
    Outcomes.valueOf(transaction.getReadVersion());
    return transaction;
  }

  Transaction closing(Transaction transaction) {
    open.push(transaction);
    return transaction;
  }

  /** Commits writes in another transaction before it returns. Returns their commit version. */
  long committed(Consumer<Transaction> writes) {
    try (Transaction other = database().createTransaction()) {
      writes.accept(other);
      Outcomes.valueOf(other.commit());
      return other.getCommittedVersion();
    }
  }

  /** Sets each key named by {@code suffixes} to its own name, in another transaction. */
  void set(String... suffixes) {
    committed(
        other -> {
          for (String suffix : suffixes) {
            other.set(key(suffix), bytes(suffix));
          }
        });
  }

  /**
   * Commits after writing an unrelated key, without which nothing is checked. Returns 0 or the
   * code.
   */
  int outcome(Transaction transaction) {
    transaction.set(key("~unrelated" + unrelated++), EMPTY);
    return Outcomes.codeOf(transaction.commit());
  }

  byte[] stored(byte[] key) {
    try (Transaction reader = database().createTransaction()) {
      return Outcomes.valueOf(reader.get(key));
    }
  }

  /** Returns the value of a key as text, or null. */
  String get(ReadTransaction transaction, String suffix) {
    return text(Outcomes.valueOf(transaction.get(key(suffix))));
  }

  static String text(byte[] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.ISO_8859_1);
  }

  /** Returns the key without this test's prefix, as text. */
  String suffix(byte[] key) {
    if (!ByteArrayUtil.startsWith(key, prefix)) {
      throw new AssertionError("Outside: " + ByteArrayUtil.printable(key));
    }
    return text(Arrays.copyOfRange(key, prefix.length, key.length));
  }

  /** Returns the suffixes of rows in one line: {@code "a c e"}. */
  String suffixes(List<KeyValue> rows) {
    return rows.stream().map(row -> suffix(row.getKey())).collect(Collectors.joining(" "));
  }

  @Override
  public void close() {
    open.forEach(Transaction::close);
  }
}
