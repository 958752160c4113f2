package lectus.document.write;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.error;
import static lectus.document.testing.TestDatabase.replicated;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.FDBException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import lectus.audit.testing.SoundStore;
import lectus.database.Catalogue;
import lectus.database.DatabaseConfiguration;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.InstanceId;
import lectus.database.ShardId;
import lectus.database.testing.TestLayout;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.LocalEdit;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.read.LocalDocuments;
import lectus.document.testing.TestDatabase;
import lectus.document.write.DocumentWriter.TransactionBudget;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.error.FoundationDbError;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.Store;
import lectus.store.TransactionIdSubspace;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random writes of every kind over a network that loses commits, loses answers and delivers late:
 * every answer must be true, no write may happen twice, and none may conflict with itself.
 */
class UnreliableStoreTest {
  private static final int FIXED_SEEDS = 3;
  private static final int STEPS = 50;
  private static final int THREADS = 4;
  private static final int EDITS = 12;
  private static final int RESHARDS = 4;

  private static final List<Fault> FAULTS =
      Arrays.stream(Fault.values()).filter(it -> it != Fault.NONE && it != Fault.IO_ERROR).toList();

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store sound = stores.fresh();
  private final TestDatabase db = TestDatabase.create(sound);
  private final FaultyStore faulty = new FaultyStore(sound, true);
  private final TransactionRunner transactions =
      new TransactionRunner(faulty.store(), TransactionLimits.DEFAULT);
  private final Catalogue catalogue =
      new Catalogue(faulty.store(), transactions, InstantSource.system());

  private Random random;
  private DocumentWriter writer;
  private LocalDocuments local;
  private int serial;

  /** Live documents with their winners; null for a deleted document. */
  private final Map<String, RevisionId> documents = new TreeMap<>();

  private final Map<String, Set<RevisionId>> replicas = new TreeMap<>();
  private final Map<String, String> locals = new HashMap<>();
  private final Map<DatabaseName, InstanceId> databases = new HashMap<>();

  /** Fixed seeds, and one that is new in every run; a failing test's name tells it. */
  static LongStream seeds() {
    return LongStream.concat(
        LongStream.range(0, FIXED_SEEDS), LongStream.of(System.nanoTime() & 0xffff_ffffL));
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void every_answer_is_true(long seed) {
    random = new Random(seed);
    // The less patience, the more often a write is given up.
    int retries = random.nextInt(4) == 0 ? random.nextInt(3) : 100;
    TransactionLimits patience = new TransactionLimits(retries, Duration.ofMinutes(1));
    writer =
        new DocumentWriter(
            faulty.store(), catalogue, new TransactionBudget(4_000_000, 9_000_000, 3), patience);
    local = new LocalDocuments(catalogue, transactions);
    faulty.keepFailing(this::anyFault);

    for (int step = 0; step < STEPS; step++) {
      step();
      if (random.nextBoolean()) {
        faulty.deliver();
      }
    }

    faulty.heal();
    faulty.deliver();
    checkEverything();
  }

  @Test
  void a_network_that_loses_the_ids_is_found_out() {
    byte[] ids = new TransactionIdSubspace(sound.rootPrefix()).range().begin;
    faulty.lose(operation -> operation.isBelow(ids) && operation.method().equals("mutate"));

    assertThatThrownBy(() -> every_answer_is_true(0)).isInstanceOf(AssertionError.class);
  }

  private Fault anyFault() {
    return random.nextInt(5) < 2 ? FAULTS.get(random.nextInt(FAULTS.size())) : Fault.NONE;
  }

  private void step() {
    switch (random.nextInt(10)) {
      case 0, 1, 2 -> write(List.of(anyEdit(anyId())));
      case 3 -> write(severalEdits());
      case 4 -> writeAtomically(severalEdits());
      case 5 -> replicate();
      case 6 -> writeLocally();
      case 7 -> createOrDelete();
      case 8 -> reshard();
      default -> configure();
    }
  }

  private String anyId() {
    return "d" + random.nextInt(10);
  }

  /** Returns what a client would send that has seen the last answer. */
  private InteractiveEdit anyEdit(String id) {
    RevisionId base = documents.get(id);
    return base != null && random.nextInt(4) == 0
        ? deletion(id, base)
        : edit(id, base, "{\"n\":" + serial++ + "}");
  }

  private List<InteractiveEdit> severalEdits() {
    Set<String> ids = new HashSet<>();
    for (int i = 0; i < 7; i++) {
      ids.add(anyId());
    }
    return ids.stream().map(this::anyEdit).toList();
  }

  private void write(List<InteractiveEdit> edits) {
    try {
      take(edits, writer.write(db.name, edits));
    } catch (LectusException | FDBException failure) {
      doubt(failure, edits);
    }
  }

  private void writeAtomically(List<InteractiveEdit> edits) {
    try {
      WriteResult result = writer.writeAtomically(db.name, edits);
      assertThat(result.outcomes()).noneMatch(EditOutcome.Failed.class::isInstance);
      take(edits, result);
    } catch (LectusException | FDBException failure) {
      doubt(failure, edits);
    }
  }

  private void take(List<InteractiveEdit> edits, WriteResult result) {
    for (int i = 0; i < edits.size(); i++) {
      InteractiveEdit edit = edits.get(i);
      if (result.outcomes().get(i) instanceof EditOutcome.Written written) {
        assertThat(db.winner(edit.id()).leaf()).isEqualTo(written.revision());
        documents.put(edit.id(), edit.deleted() ? null : written.revision());
      } else {
        doubt(new LectusException(error(result.outcomes().get(i))), List.of(edit));
      }
    }
    result
        .last()
        .ifPresent(
            last ->
                assertThat(edits)
                    .extracting(it -> db.branches(it.id()))
                    .filteredOn(branches -> !branches.isEmpty())
                    .extracting(branches -> branches.get(0).winner().sequence())
                    .contains(last));
  }

  /** Nothing is stored, unless the result is unknown: then the stored state counts. */
  private void doubt(RuntimeException failure, List<InteractiveEdit> edits) {
    if (isUnknown(failure)) {
      faulty.deliver();
      for (InteractiveEdit edit : edits) {
        List<EditBranch> branches = db.branches(edit.id());
        if (branches.isEmpty()) {
          documents.remove(edit.id());
        } else {
          EditBranch winner = branches.get(0);
          documents.put(edit.id(), winner.deleted() ? null : winner.leaf());
        }
      }
    }
  }

  private static boolean isUnknown(RuntimeException failure) {
    if (failure instanceof LectusException known) {
      LectusError error = known.error();
      assertThat(error).isInstanceOfAny(LectusError.InDoubt.class, LectusError.Unavailable.class);
      return error instanceof LectusError.InDoubt;
    }
    FDBException lost = (FDBException) failure;
    assertThat(FoundationDbError.isRetryable(lost.getCode()))
        .as("code %d", lost.getCode())
        .isTrue();
    return false;
  }

  private void replicate() {
    String id = "r" + random.nextInt(3);
    String revision = 2 + random.nextInt(3) + "-" + random.nextInt(20);
    ReplicatedEdit edit = replicated(id, "{\"n\":" + serial++ + "}", revision, "1-root");
    try {
      writer.write(db.name, List.of(edit));
    } catch (LectusException | FDBException failure) {
      isUnknown(failure);
    }
    faulty.deliver();
    db.branches(id).forEach(it -> leavesOf(id).add(it.leaf()));
  }

  private Set<RevisionId> leavesOf(String id) {
    return replicas.computeIfAbsent(id, it -> new HashSet<>());
  }

  private void writeLocally() {
    String id = "_local/" + random.nextInt(3);
    String before = locals.get(id);
    try {
      if (before != null && random.nextBoolean()) {
        local.delete(db.name, id);
        locals.remove(id);
      } else {
        String rev = before == null ? LocalEdit.NO_REVISION : before;
        LocalEdit edit = TestDatabase.local(id, rev, "{\"n\":" + serial++ + "}");
        locals.put(id, revisionOrThrow(writer.write(db.name, List.of(edit))));
      }
    } catch (LectusException | FDBException failure) {
      if (isUnknown(failure)) {
        faulty.deliver();
        readLocally(id).ifPresentOrElse(it -> locals.put(id, it), () -> locals.remove(id));
      }
    }
    assertThat(readLocally(id)).isEqualTo(Optional.ofNullable(locals.get(id)));
  }

  private static String revisionOrThrow(WriteResult result) {
    if (result.outcomes().get(0) instanceof EditOutcome.Written written) {
      return written.revision().toString();
    }
    throw new LectusException(error(result.outcomes().get(0)));
  }

  private Optional<String> readLocally(String id) {
    LocalDocuments truth = new LocalDocuments(db.catalogue, db.transactions);
    try {
      return Optional.of(truth.read(DatabaseRequest.byServer(db.name), id, new JsonBuffer(64)));
    } catch (LectusException missing) {
      return Optional.empty();
    }
  }

  /** Neither is answered 412 or 404 because the operation has already happened. */
  private void createOrDelete() {
    DatabaseName name = DatabaseName.of("other" + random.nextInt(2));
    try {
      if (databases.containsKey(name)) {
        InstanceId ended = catalogue.delete(name).value();
        assertThat(ended).isEqualTo(databases.remove(name));
      } else {
        databases.put(name, catalogue.create(name, TestLayout.OPTIONS).instance());
      }
    } catch (LectusException | FDBException failure) {
      assertThat(isUnknown(failure)).isTrue();
      faulty.deliver();
      databases.remove(name);
      instance(name).ifPresent(it -> databases.put(name, it));
    }
  }

  private Optional<InstanceId> instance(DatabaseName name) {
    try {
      return Optional.of(db.catalogue.open(name).instance());
    } catch (LectusException notThere) {
      return Optional.empty();
    }
  }

  private void configure() {
    int limit = 100 + random.nextInt(100);
    catalogue.configure(db.name, was -> new DatabaseConfiguration(limit, was.partitioned()));
    assertThat(db.catalogue.open(db.name).configuration().revsLimit()).isEqualTo(limit);
    byte[] security = TestDatabase.utf8("{\"n\":" + limit + "}");
    catalogue.secure(db.name, security);
    assertThat(db.catalogue.security(db.name)).isEqualTo(security);
  }

  /** The operation happens once, and the answer tells what is stored. */
  private void reshard() {
    int last = lastShard();
    DatabaseHandle resharded = catalogue.reshard(db.name, 1 + random.nextInt(4));
    assertThat(resharded.topology().current().shards().get(0).text())
        .isEqualTo(Integer.toString(last + 1));
    assertThat(db.catalogue.open(db.name).topology()).isEqualTo(resharded.topology());
  }

  private int lastShard() {
    List<ShardId> shards = db.catalogue.open(db.name).topology().current().shards();
    return Integer.parseInt(shards.get(shards.size() - 1).text());
  }

  private void checkEverything() {
    documents.forEach(
        (id, revision) -> {
          EditBranch winner = db.winner(id);
          assertThat(winner.deleted() ? null : winner.leaf()).as(id).isEqualTo(revision);
        });
    replicas.forEach(
        (id, leaves) ->
            assertThat(db.branches(id)).extracting(EditBranch::leaf).isSubsetOf(leaves));
    locals.forEach((id, revision) -> assertThat(readLocally(id)).contains(revision));
    databases.forEach((name, instance) -> assertThat(instance(name)).contains(instance));
    long replicated = replicas.values().stream().filter(it -> !it.isEmpty()).count();
    db.audit(documents.size() + (int) replicated);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void writers_that_get_in_each_others_way_lose_and_double_nothing(long seed) throws Exception {
    random = new Random(seed);
    writer = new DocumentWriter(faulty.store(), catalogue);
    faulty.keepFailing(this::anyFault);
    faulty.completing(this::delayed);
    db.put("shared", "{}");

    int written = inAllThreads(seed);

    faulty.heal();
    faulty.deliver();
    assertThat(db.winner("shared").leaf().position()).isEqualTo(1 + written);
    for (int thread = 0; thread < THREADS; thread++) {
      assertThat(db.winner("own" + thread).leaf().position()).isEqualTo(EDITS);
    }
    assertThat(lastShard()).isEqualTo(RESHARDS * (RESHARDS + 1) / 2);
    db.audit(1 + THREADS);
  }

  /** Completions come late, and in a different order from the commits. */
  private CompletableFuture<Void> delayed(CompletableFuture<Void> commit) {
    int milliseconds = random.nextInt(4);
    return milliseconds == 0
        ? commit
        : commit
            .handle((done, failure) -> commit)
            .thenComposeAsync(
                it -> it, CompletableFuture.delayedExecutor(milliseconds, TimeUnit.MILLISECONDS));
  }

  /** Returns how many edits of the shared document were answered as written. */
  private int inAllThreads(long seed) throws InterruptedException, ExecutionException {
    ExecutorService executor = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<Integer>> results = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        results.add(executor.submit(() -> editOwnAndShared(thread, new Random(seed + thread))));
      }
      for (int shards = 1; shards <= RESHARDS; shards++) {
        catalogue.reshard(db.name, shards);
      }
      int sum = 0;
      for (Future<Integer> result : results) {
        sum += result.get();
      }
      return sum;
    } finally {
      executor.shutdownNow();
    }
  }

  private int editOwnAndShared(int thread, Random dice) {
    RevisionId own = null;
    int written = 0;
    for (int i = 0; i < EDITS; i++) {
      String json = "{\"thread\":" + thread + ",\"n\":" + dice.nextInt() + "}";
      RevisionId base = db.winner("shared").leaf();
      List<EditOutcome> outcomes =
          writer
              .write(db.name, List.of(edit("own" + thread, own, json), edit("shared", base, json)))
              .outcomes();
      own = TestDatabase.written(outcomes.get(0));
      written += outcomes.get(1) instanceof EditOutcome.Written ? 1 : 0;
    }
    return written;
  }
}
