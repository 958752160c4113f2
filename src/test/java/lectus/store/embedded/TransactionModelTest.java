package lectus.store.embedded;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.Transaction;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletionException;
import lectus.store.embedded.engine.AtomicOperations;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares random transactions with plain maps: what reads see under own writes, which foreign
 * writes make a commit lose, and what is stored in the end.
 */
final class TransactionModelTest {
  private static final int ROUNDS = 400;
  private static final String KEYS = "abcdefghij";
  private static final String END = "k";
  private static final int NOT_COMMITTED = 1020;

  private static final MutationType[] ATOMICS = {
    MutationType.ADD,
    MutationType.BYTE_MIN,
    MutationType.MAX,
    MutationType.APPEND_IF_FITS,
    MutationType.COMPARE_AND_CLEAR,
    MutationType.BIT_OR
  };

  @TempDir static Path folder;
  private static EmbeddedDatabase database;

  @BeforeAll
  static void open() {
    database = EmbeddedDatabase.open(folder, EmbeddedOptions.defaults());
  }

  @AfterAll
  static void close() {
    database.close();
  }

  @Test
  void transactions_do_what_plain_maps_do() {
    for (int seed = 0; seed < ROUNDS; seed++) {
      new Round(seed).run();
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, ISO_8859_1);
  }

  /** One transaction, another that commits before it, and the models of both. */
  private static final class Round {
    private final int seed;
    private final Random random;

    /** The rows that the transaction sees. */
    private final TreeMap<String, String> visible = new TreeMap<>();

    /** Keys whose value no longer depends on the store. */
    private final TreeSet<String> independent = new TreeSet<>();

    /** Keys whose foreign writes make the commit lose. */
    private final TreeSet<String> conflicting = new TreeSet<>();

    private final List<String> steps = new ArrayList<>();

    Round(int seed) {
      this.seed = seed;
      random = new Random(seed);
    }

    void run() {
      fill();
      try (Transaction transaction = database.createTransaction()) {
        transaction.getReadVersion().join();
        for (int step = 0; step < 10; step++) {
          if (random.nextBoolean()) {
            write(transaction);
          } else {
            read(transaction, random.nextInt(4) == 0);
          }
        }
        transaction.set(bytes("z"), bytes("never read"));
        String foreign = key();
        commitForeign(foreign);
        int outcome = commit(transaction);
        assertThat(outcome == NOT_COMMITTED)
            .as("%s, foreign write of %s, code %d", this, foreign, outcome)
            .isEqualTo(conflicting.contains(foreign));
        if (outcome == 0) {
          checkStored(foreign);
        }
      }
    }

    @Override
    public String toString() {
      return "seed " + seed + " " + steps;
    }

    private void fill() {
      for (char c : KEYS.toCharArray()) {
        if (random.nextInt(2) == 0) {
          visible.put(String.valueOf(c), operand());
        }
      }
      database.run(
          transaction -> {
            transaction.clear(bytes("a"), bytes(END));
            visible.forEach((key, value) -> transaction.set(bytes(key), bytes(value)));
            return null;
          });
    }

    private void commitForeign(String key) {
      database.run(
          transaction -> {
            transaction.set(bytes(key), bytes("foreign"));
            return null;
          });
    }

    private static int commit(Transaction transaction) {
      try {
        transaction.commit().join();
        return 0;
      } catch (CompletionException error) {
        return ((FDBException) error.getCause()).getCode();
      }
    }

    /** The foreign write matters only for dependent keys, whose operations now apply to it. */
    private void checkStored(String foreign) {
      if (!independent.contains(foreign)) {
        return;
      }
      TreeMap<String, String> stored = new TreeMap<>();
      database
          .<List<KeyValue>>run(t -> t.getRange(bytes("a"), bytes(END)).asList().join())
          .forEach(row -> stored.put(text(row.getKey()), text(row.getValue())));
      assertThat(stored).as("%s", this).isEqualTo(visible);
    }

    private String key() {
      return String.valueOf(KEYS.charAt(random.nextInt(KEYS.length())));
    }

    private String operand() {
      byte[] operand = new byte[random.nextInt(3)];
      random.nextBytes(operand);
      return text(operand);
    }

    private void write(Transaction transaction) {
      String key = key();
      String operand = operand();
      switch (random.nextInt(4)) {
        case 0 -> {
          steps.add("set " + key);
          transaction.set(bytes(key), bytes(operand));
          visible.put(key, operand);
          independent.add(key);
        }
        case 1 -> clear(transaction, key, random.nextBoolean() ? key + "\0" : key());
        default -> {
          MutationType type = ATOMICS[random.nextInt(ATOMICS.length)];
          steps.add(type + " " + key);
          transaction.mutate(type, bytes(key), bytes(operand));
          String before = visible.get(key);
          byte[] after =
              AtomicOperations.apply(type, before == null ? null : bytes(before), bytes(operand));
          visible.remove(key);
          if (after != null) {
            visible.put(key, text(after));
          }
        }
      }
    }

    private void clear(Transaction transaction, String begin, String end) {
      if (begin.compareTo(end) >= 0) {
        return;
      }
      steps.add("clear " + begin + ".." + end);
      transaction.clear(bytes(begin), bytes(end));
      visible.subMap(begin, end).clear();
      independent.addAll(universe(begin, end));
    }

    private static List<String> universe(String begin, String end) {
      return KEYS.chars()
          .mapToObj(c -> String.valueOf((char) c))
          .filter(key -> key.compareTo(begin) >= 0 && key.compareTo(end) < 0)
          .toList();
    }

    private void read(Transaction transaction, boolean snapshot) {
      switch (random.nextInt(3)) {
        case 0 -> readKey(transaction, snapshot);
        case 1 -> readSelector(transaction, snapshot);
        default -> readRange(transaction, snapshot);
      }
    }

    private void readKey(Transaction transaction, boolean snapshot) {
      String key = key();
      steps.add("get " + key);
      byte[] value = (snapshot ? transaction.snapshot() : transaction).get(bytes(key)).join();
      assertThat(value == null ? null : text(value)).as("%s", this).isEqualTo(visible.get(key));
      if (!snapshot) {
        addConflict(key, key + "\0");
      }
    }

    private void addConflict(String begin, String end) {
      for (String key : universe(begin, end)) {
        if (!independent.contains(key)) {
          conflicting.add(key);
        }
      }
    }

    /** Selectors stay among the test's keys; around them the store may hold others. */
    private void readSelector(Transaction transaction, boolean snapshot) {
      String base = key();
      boolean orEqual = random.nextBoolean();
      int offset = random.nextInt(7) - 3;
      String from = orEqual ? base + "\0" : base;
      List<String> keys = new ArrayList<>(visible.keySet());
      int index = visible.headMap(from).size() + offset - 1;
      if (index < 0 || index >= keys.size()) {
        return;
      }
      steps.add("getKey " + base + orEqual + offset);
      KeySelector selector = new KeySelector(bytes(base), orEqual, offset);
      byte[] key = (snapshot ? transaction.snapshot() : transaction).getKey(selector).join();
      assertThat(text(key)).as("%s", this).isEqualTo(keys.get(index));
      if (!snapshot && offset > 0) {
        addConflict(from, text(key) + "\0");
      } else if (!snapshot) {
        addConflict(text(key), from);
      }
    }

    private void readRange(Transaction transaction, boolean snapshot) {
      String begin = key();
      String end = key();
      int limit = random.nextInt(4);
      boolean reverse = random.nextBoolean();
      steps.add("range " + begin + ".." + end + " limit " + limit + (reverse ? " reverse" : ""));
      StreamingMode mode = random.nextBoolean() ? StreamingMode.SMALL : StreamingMode.ITERATOR;
      List<String> rows = new ArrayList<>();
      var range =
          (snapshot ? transaction.snapshot() : transaction)
              .getRange(bytes(begin), bytes(end), limit, reverse, mode);
      if (random.nextBoolean()) {
        range.asList().join().forEach(row -> rows.add(text(row)));
      } else {
        range.iterator().forEachRemaining(row -> rows.add(text(row)));
      }
      List<String> expected = expectedRows(begin, end, limit, reverse);
      assertThat(rows).as("%s", this).isEqualTo(expected);
      if (!snapshot && begin.compareTo(end) < 0) {
        boolean stopped = limit > 0 && rows.size() == limit;
        String last = stopped ? rows.get(limit - 1).substring(0, 1) : null;
        addConflict(stopped && reverse ? last : begin, stopped && !reverse ? last + "\0" : end);
      }
    }

    private List<String> expectedRows(String begin, String end, int limit, boolean reverse) {
      if (begin.compareTo(end) >= 0) {
        return List.of();
      }
      NavigableMap<String, String> inside = visible.subMap(begin, true, end, false);
      return (reverse ? inside.descendingMap() : inside)
          .entrySet().stream()
              .limit(limit == 0 ? Long.MAX_VALUE : limit)
              .map(row -> row.getKey() + "=" + row.getValue())
              .toList();
    }

    private static String text(KeyValue row) {
      return TransactionModelTest.text(row.getKey())
          + "="
          + TransactionModelTest.text(row.getValue());
    }

    private static String text(byte[] bytes) {
      return TransactionModelTest.text(bytes);
    }
  }
}
