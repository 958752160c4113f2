package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.MutationType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import lectus.store.embedded.engine.CommitRequest.Mutation;
import lectus.store.embedded.engine.StoreSnapshot.Cursor;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares random commits in random groups with a sorted map and a list of all writes. */
class CommitModelTest {
  private static final int ROUNDS = Integer.getInteger("lectus.test.model-rounds", 200);
  private static final int KEYS = 40;
  private static final MutationType[] ATOMICS = {
    MutationType.ADD,
    MutationType.BIT_AND,
    MutationType.BIT_OR,
    MutationType.BIT_XOR,
    MutationType.MAX,
    MutationType.MIN,
    MutationType.BYTE_MIN,
    MutationType.BYTE_MAX,
    MutationType.APPEND_IF_FITS,
    MutationType.COMPARE_AND_CLEAR
  };

  @TempDir Path folder;

  private record Write(long version, KeyRange range) {}

  private record Held(StoreSnapshot snapshot, Map<String, String> content) {}

  private record Submitted(CommitRequest request, CompletableFuture<CommitReceipt> future) {}

  private final TurnedByHand hand = new TurnedByHand();
  private final AtomicLong clock = new AtomicLong(1_000_000_000);
  private final List<Held> held = new ArrayList<>();
  private final List<Write> writes = new ArrayList<>();
  private TreeMap<byte[], byte[]> content = new TreeMap<>(Arrays::compareUnsigned);
  private Random random;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void agrees_with_the_model(long seed) {
    random = new Random(seed);
    EngineOptions options =
        EngineOptions.defaults()
            .with(TestOptions.clock(clock::get))
            .with(TestOptions.threads(hand, hand));
    RocksEngine engine = RocksEngine.open(folder, options);
    for (int round = 0; round < ROUNDS; round++) {
      clock.addAndGet(random.nextInt(1000));
      takeOrDropSnapshot(engine);
      List<Submitted> group = submitGroup(engine);
      hand.run();
      group.forEach(submitted -> expect(submitted, seed));
      compare(engine, seed);
      if (random.nextInt(10) == 0) {
        hand.tick();
      }
    }
    held.forEach(each -> each.snapshot.close());
    engine.close();
  }

  private void takeOrDropSnapshot(Engine engine) {
    if (held.size() > 5 || (!held.isEmpty() && random.nextBoolean())) {
      held.remove(random.nextInt(held.size())).snapshot.close();
    }
    held.add(new Held(engine.latest(), printed(content)));
  }

  private List<Submitted> submitGroup(Engine engine) {
    List<Submitted> group = new ArrayList<>();
    int size = 1 + random.nextInt(8);
    for (int i = 0; i < size; i++) {
      CommitRequest request = randomRequest();
      group.add(new Submitted(request, engine.commit(request)));
    }
    return group;
  }

  private CommitRequest randomRequest() {
    Commits commit = Commits.commit();
    if (random.nextInt(4) != 0) {
      commit.at(held.get(random.nextInt(held.size())).snapshot.version());
      int reads = random.nextInt(3);
      for (int i = 0; i < reads; i++) {
        int key = random.nextInt(KEYS);
        commit.read(name(key), name(key + 1 + random.nextInt(4)));
      }
    }
    int mutations = 1 + random.nextInt(5);
    for (int i = 0; i < mutations; i++) {
      addMutation(commit);
    }
    return commit.request();
  }

  private void addMutation(Commits commit) {
    int key = random.nextInt(KEYS);
    switch (random.nextInt(8)) {
      case 0 -> commit.clear(name(key), name(key + 1 + random.nextInt(8)));
      case 1 -> commit.atomic(MutationType.SET_VERSIONSTAMPED_KEY, template(key), value());
      case 2 -> {
        byte[] operand = template(random.nextInt(10));
        commit.atomic(MutationType.SET_VERSIONSTAMPED_VALUE, Commits.bytes(name(key)), operand);
      }
      case 3, 4, 5 -> {
        MutationType type = ATOMICS[random.nextInt(ATOMICS.length)];
        commit.atomic(type, Commits.bytes(name(key)), value());
      }
      default -> commit.set(Commits.bytes(name(key)), value());
    }
  }

  private void expect(Submitted submitted, long seed) {
    CommitRequest request = submitted.request;
    boolean conflict = request.readConflicts().stream().anyMatch(r -> wroteSince(request, r));
    try {
      CommitReceipt receipt = submitted.future.join();
      assertThat(conflict).as("seed %d: commit in spite of a conflict", seed).isFalse();
      apply(request, receipt);
    } catch (CompletionException failure) {
      assertThat(((FDBException) failure.getCause()).getCode()).isEqualTo(1020);
      assertThat(conflict).as("seed %d: 1020 without a conflict", seed).isTrue();
    }
  }

  private boolean wroteSince(CommitRequest request, KeyRange read) {
    return writes.stream()
        .anyMatch(
            write ->
                write.version > request.readVersion()
                    && Arrays.compareUnsigned(write.range.begin(), read.end()) < 0
                    && Arrays.compareUnsigned(read.begin(), write.range.end()) < 0);
  }

  private void apply(CommitRequest request, CommitReceipt receipt) {
    request.writeConflicts().forEach(range -> writes.add(new Write(receipt.version(), range)));
    byte[] stamp = CommitStamp.stamp(receipt.version(), receipt.batchOrder());
    for (Mutation mutation : request.mutations()) {
      if (mutation instanceof Mutation.Set set) {
        content.put(set.key(), set.value());
      } else if (mutation instanceof Mutation.Clear clear) {
        content.subMap(clear.begin(), clear.end()).clear();
      } else if (mutation instanceof Mutation.Atomic atomic) {
        apply(atomic, receipt.version(), stamp);
      }
    }
  }

  private void apply(Mutation.Atomic atomic, long version, byte[] stamp) {
    if (atomic.type() == MutationType.SET_VERSIONSTAMPED_KEY) {
      byte[] key = stamped(atomic.key(), stamp);
      content.put(key, atomic.operand());
      writes.add(new Write(version, KeyRange.of(key)));
    } else if (atomic.type() == MutationType.SET_VERSIONSTAMPED_VALUE) {
      content.put(atomic.key(), stamped(atomic.operand(), stamp));
    } else {
      byte[] before = content.get(atomic.key());
      byte[] after = AtomicOperations.apply(atomic.type(), before, atomic.operand());
      if (after == null) {
        content.remove(atomic.key());
      } else {
        content.put(atomic.key(), after);
      }
    }
  }

  private void compare(Engine engine, long seed) {
    try (StoreSnapshot latest = engine.latest()) {
      assertThat(stored(latest)).as("seed %d: newest state", seed).isEqualTo(printed(content));
    }
    for (Held each : held) {
      assertThat(stored(each.snapshot)).as("seed %d: snapshot", seed).isEqualTo(each.content);
    }
  }

  private static Map<String, String> stored(StoreSnapshot snapshot) {
    Map<String, String> rows = new TreeMap<>();
    try (Cursor cursor = snapshot.scan(new byte[0], new byte[] {-1}, false)) {
      while (cursor.next()) {
        rows.put(hex(cursor.key()), hex(cursor.value()));
      }
    }
    for (int key = 0; key < KEYS; key++) {
      byte[] value = snapshot.get(Commits.bytes(name(key)));
      assertThat(value == null ? null : hex(value))
          .as("a single key")
          .isEqualTo(rows.get(hex(Commits.bytes(name(key)))));
    }
    return rows;
  }

  private static Map<String, String> printed(TreeMap<byte[], byte[]> content) {
    Map<String, String> rows = new TreeMap<>();
    content.forEach((key, value) -> rows.put(hex(key), hex(value)));
    return rows;
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private static String name(int key) {
    return String.format("k%02d", key);
  }

  private byte[] value() {
    byte[] value = new byte[random.nextInt(4)];
    random.nextBytes(value);
    return value;
  }

  /** "kNN", ten bytes for the stamp, "s", and the offset 3. */
  private static byte[] template(int key) {
    byte[] template = Arrays.copyOf(Commits.bytes(name(key)), 18);
    template[13] = 's';
    template[14] = 3;
    return template;
  }

  private static byte[] stamped(byte[] template, byte[] stamp) {
    byte[] result = Arrays.copyOf(template, template.length - 4);
    System.arraycopy(stamp, 0, result, 3, stamp.length);
    return result;
  }
}
