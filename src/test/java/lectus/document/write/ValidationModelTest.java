package lectus.document.write;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.replicated;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import lectus.audit.testing.SoundStore;
import lectus.database.Catalogue;
import lectus.database.Sequence;
import lectus.document.DocumentsSubspace;
import lectus.document.StoredBody;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.testing.JavaFunctions;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.document.write.WriteRules.EditRule;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Validation under concurrent writers on two servers, edits that come late, purges and changed
 * functions. All that was committed is gone through in its order: no document was stored that its
 * validators refuse as they were then, with the old document as it was then. {@code
 * -Dlectus.test.validation-seeds} sets how often.
 */
class ValidationModelTest {
  private static final int WRITERS = 4;
  private static final int EDITS = 120;
  private static final List<String> DOCUMENTS = List.of("d0", "d1", "d2");
  private static final List<String> DESIGNS = List.of("_design/a", "_design/b");

  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final Store store = stores.fresh();
  private final TestDatabase plain = TestDatabase.create(store);
  private final List<JavaFunctions> functions = List.of(server(), server());
  private final List<TestDatabase> servers = functions.stream().map(this::database).toList();
  private final Queue<Committed> log = new ConcurrentLinkedQueue<>();

  /** Something that was stored. */
  private record Committed(Sequence at, Edit edit, EditOutcome outcome) {}

  private JavaFunctions server() {
    return new JavaFunctions(store);
  }

  private TestDatabase database(JavaFunctions judge) {
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    Catalogue catalogue = new Catalogue(store, transactions, InstantSource.system());
    return plain.writtenBy(
        new DocumentWriter(store, catalogue, new WriteRules(false, EditRule.NONE, judge)));
  }

  static LongStream seeds() {
    long first = Long.getLong("lectus.test.seed", 1);
    return LongStream.range(first, first + Integer.getInteger("lectus.test.validation-seeds", 3));
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void nothing_is_stored_that_its_validators_refuse(long seed) {
    for (JavaFunctions judge : functions) {
      Random random = new Random(~seed);
      TestDatabase other = servers.get(1 - functions.indexOf(judge));
      judge.before(() -> interfere(other, random));
    }
    List<CompletableFuture<Void>> writers =
        IntStream.range(0, WRITERS)
            .mapToObj(
                writer ->
                    CompletableFuture.runAsync(
                        () -> write(servers.get(writer % 2), new Random(seed * WRITERS + writer)),
                        task -> new Thread(task).start()))
            .toList();
    writers.forEach(CompletableFuture::join);

    History history = new History();
    history.check(log.stream().sorted(Comparator.comparing(Committed::at)).toList());
    for (String id : DOCUMENTS) {
      assertThat(plain.branches(id).stream().map(EditBranch::leaf))
          .as(id)
          .containsExactlyInAnyOrderElementsOf(history.leaves(id));
    }
  }

  /** Some of the edits come late, as a slow replicator's do. */
  private void write(TestDatabase db, Random random) {
    List<Edit> late = new ArrayList<>();
    for (int i = 0; i < EDITS; i++) {
      int dice = random.nextInt(10);
      if (dice == 0) {
        purge(db, id(random));
      } else if (dice == 1) {
        changeValidator(db, random);
      } else {
        make(db, late, random);
      }
    }
  }

  /** Happens between the two passes of a write. */
  private void interfere(TestDatabase db, Random random) {
    int dice = random.nextInt(4);
    if (dice == 0) {
      changeValidator(db, random);
    } else if (dice < 3) {
      String id = id(random);
      purge(db, id);
      String json = "{\"v\":%d,\"was\":null}".formatted(random.nextInt(6));
      make(db, replicated(id, json, "1-r"));
    }
  }

  private static String id(Random random) {
    return DOCUMENTS.get(random.nextInt(DOCUMENTS.size()));
  }

  private void make(TestDatabase db, Edit edit) {
    WriteResult result = db.writer.write(db.name, List.of(edit));
    result.last().ifPresent(at -> log.add(new Committed(at, edit, result.outcomes().get(0))));
  }

  private void purge(TestDatabase db, String id) {
    RevisionId[] leaves = db.branches(id).stream().map(EditBranch::leaf).toArray(RevisionId[]::new);
    make(db, Purging.of(id, leaves));
  }

  /** A design document that was purged comes again with the same revision and another function. */
  private void changeValidator(TestDatabase db, Random random) {
    String id = DESIGNS.get(random.nextInt(DESIGNS.size()));
    String function =
        JavaFunctions.validating(
            id.equals("_design/a")
                ? "min " + random.nextInt(5)
                : random.nextBoolean() ? "was" : "accept");
    List<EditBranch> branches = db.branches(id);
    int dice = random.nextInt(4);
    if (branches.isEmpty()) {
      make(db, replicated(id, function, "1-a"));
    } else if (branches.get(0).deleted() || dice == 0) {
      purge(db, id);
      make(db, replicated(id, function, "1-a"));
    } else if (dice == 1) {
      make(db, deletion(id, branches.get(0).leaf()));
    } else {
      make(db, edit(id, branches.get(0).leaf(), function));
    }
  }

  private void make(TestDatabase db, List<Edit> late, Random random) {
    String id = id(random);
    List<EditBranch> branches = db.branches(id);
    Optional<EditBranch> old =
        branches.isEmpty() || random.nextInt(4) == 0
            ? Optional.empty()
            : Optional.of(branches.get(random.nextInt(branches.size())));
    String was = old.map(leaf -> v(db, id, leaf)).orElse("null");
    String lie = random.nextInt(4) == 0 ? "7" : was;
    String json = "{\"v\":%d,\"was\":%s}".formatted(random.nextInt(6), lie);
    late.add(anEdit(id, old, json, random));
    make(db, late.remove(random.nextInt(4) > 0 ? late.size() - 1 : random.nextInt(late.size())));
  }

  private static Edit anEdit(String id, Optional<EditBranch> old, String json, Random random) {
    if (old.isEmpty()) {
      return random.nextBoolean() ? edit(id, null, json) : replicated(id, json, "1-r");
    }
    RevisionId leaf = old.get().leaf();
    if (!old.get().deleted() && random.nextBoolean()) {
      return edit(id, leaf, json);
    }
    String child = "xyz".charAt(random.nextInt(3)) + Integer.toHexString(leaf.hashCode());
    return replicated(id, json, leaf.position() + 1 + "-" + child, leaf.toString());
  }

  /** Returns the member v of a leaf; 9 if it is gone meanwhile. */
  private static String v(TestDatabase db, String id, EditBranch leaf) {
    return db.read(
        (tx, handle) -> {
          byte[] prefix = new DocumentsSubspace(handle).revision(id, leaf.deleted(), leaf.leaf());
          JsonBuffer json = new JsonBuffer(64).octet('{');
          Awaiting.await(StoredBody.read(tx, prefix)).appendTo(new JsonAssembler(json, false));
          JsonObject body = (JsonObject) JsonValue.parse(json.octet('}').toBytes());
          return body.get("v").map(it -> ((JsonNumber) it).text()).orElse("9");
        });
  }

  /**
   * A leaf that was stored.
   *
   * @param ancestors that are known
   */
  private record Leaf(RevisionId revision, Set<RevisionId> ancestors, JsonObject body) {
    boolean knows(RevisionId other) {
      return revision.equals(other) || ancestors.contains(other);
    }

    /** Returns the known ancestors of a revision that is known. */
    Stream<RevisionId> before(RevisionId other) {
      return ancestors.stream().filter(it -> it.position() < other.position());
    }
  }

  /** What was stored, in the order of the commits. */
  private static final class History {
    private final Map<String, String> validators = new TreeMap<>();
    private final Map<String, List<Leaf>> leaves = new HashMap<>();
    private int judged;

    void check(List<Committed> all) {
      all.forEach(this::apply);
      assertThat(judged).as("documents that were judged").isPositive();
    }

    List<RevisionId> leaves(String id) {
      return leaves.getOrDefault(id, List.of()).stream().map(Leaf::revision).toList();
    }

    private void apply(Committed one) {
      String id = one.edit().id();
      if (one.outcome() instanceof EditOutcome.Purged purged) {
        validators.remove(id);
        leaves
            .getOrDefault(id, new ArrayList<>())
            .removeIf(it -> purged.revisions().contains(it.revision()));
      } else if (DESIGNS.contains(id)) {
        validators.remove(id);
        if (!one.edit().deleted()) {
          validators.put(id, body(one.edit()).get("validate_doc_update").orElseThrow().toString());
        }
      } else {
        store(one);
      }
    }

    /**
     * A revision that is an ancestor already only tells more of the history: its body is neither
     * judged nor stored, unless it ends a leaf.
     */
    private void store(Committed one) {
      List<Leaf> its = leaves.computeIfAbsent(one.edit().id(), id -> new ArrayList<>());
      RevisionId made =
          one.edit() instanceof ReplicatedEdit replicated
              ? replicated.path().leaf()
              : ((EditOutcome.Written) one.outcome()).revision();
      Optional<RevisionId> parent = parent(one.edit());
      Set<RevisionId> ancestors = new HashSet<>();
      parent.ifPresent(
          it -> {
            ancestors.add(it);
            its.stream()
                .filter(leaf -> leaf.knows(it))
                .forEach(leaf -> leaf.before(it).forEach(ancestors::add));
          });
      List<Leaf> ended =
          its.stream().filter(it -> parent.equals(Optional.of(it.revision()))).toList();
      List<Leaf> knowing = its.stream().filter(it -> it.knows(made)).toList();
      JsonObject body = body(one.edit());
      if (knowing.isEmpty() || !ended.isEmpty()) {
        judge(one, body, ended.stream().findFirst().map(it -> text(it.body())).orElse("null"));
      }
      its.removeAll(ended);
      knowing.forEach(it -> it.ancestors().addAll(ancestors));
      if (knowing.isEmpty()) {
        its.add(new Leaf(made, ancestors, body));
      }
    }

    private static Optional<RevisionId> parent(Edit edit) {
      if (edit instanceof InteractiveEdit interactive) {
        return interactive.base();
      }
      RevisionPath path = ((ReplicatedEdit) edit).path();
      return path.ancestors().stream()
          .findFirst()
          .map(hash -> new RevisionId(path.leaf().position() - 1, hash));
    }

    private void judge(Committed one, JsonObject now, String old) {
      for (String function : validators.values()) {
        judged++;
        String text = function.substring(function.indexOf('=') + 1, function.length() - 1);
        assertThat(
                JavaFunctions.refusal(
                    text, now, old.getBytes(StandardCharsets.UTF_8), new JsonObject(Map.of())))
            .as("%s after %s, judged by %s", one, old, validators)
            .isEmpty();
      }
    }

    private static JsonObject body(Edit edit) {
      JsonBuffer json = new JsonBuffer(64).octet('{');
      edit.body().appendTo(json);
      return (JsonObject) JsonValue.parse(json.octet('}').toBytes());
    }

    private static String text(JsonObject object) {
      JsonBuffer json = new JsonBuffer(64);
      object.writeTo(json);
      return json.toString();
    }
  }
}
