package lectus.audit;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import lectus.attachment.AttachmentIntake.ContentStore;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.ContentId;
import lectus.attachment.ContentUpload;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.attachment.ReferencesSubspace;
import lectus.attachment.UnusedSubspace;
import lectus.audit.StoreAudit.AuditListener;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.testing.MovedDatabase;
import lectus.database.Catalogue;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.database.RefusedSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.testing.TestLayout;
import lectus.derived.FeedDefinition;
import lectus.derived.rows.FeedCatalogue;
import lectus.derived.rows.FillingJobs;
import lectus.document.DocumentsSubspace;
import lectus.document.edit.Edit;
import lectus.document.read.LocalDocsSubspace;
import lectus.document.testing.TestDatabase;
import lectus.document.testing.WinnerRow;
import lectus.document.write.DocumentWriter;
import lectus.document.write.EditOutcome;
import lectus.json.TupleWriter;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Operation;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The audit finds what a writer forgets and what is damaged, reports where, and reports nothing
 * else.
 */
final class AuditTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final byte[] VALUE = {1};

  /** The audit finds what a writer forgets, reports where, and reports nothing else. */
  @Nested
  class OfDocuments {
    /** Damage here cannot be located, because the database cannot be opened. */
    private static final Set<DatabaseSubspace> PARTS_OF_HANDLES =
        Set.of(DatabaseSubspace.CONFIG, DatabaseSubspace.VALIDATORS, DatabaseSubspace.DERIVED);

    private static final byte[] COUNT = new byte[Long.BYTES];

    private final Store store = MovedDatabase.withLongPrefixes(stores.fresh());
    private final TestDatabase db = TestDatabase.create(store, BodyLayout.RFC004);
    private final AuditedStore audited = new AuditedStore(store, db.transactions);
    private final FaultyStore faulty = new FaultyStore(store);

    private final Catalogue catalogue =
        new Catalogue(
            faulty.store(),
            new TransactionRunner(faulty.store(), TransactionLimits.DEFAULT),
            InstantSource.system());
    private final DocumentWriter writer = new DocumentWriter(faulty.store(), catalogue);
    private final DatabaseHandle handle = db.catalogue.open(db.name);
    private RevisionId first;

    @BeforeEach
    void aSoundDatabase() {
      first = db.put("a", "{\"x\":{\"y\":[1,2]},\"z\":{}}");
      db.put("b", "{}");
      db.delete("b", db.winner("b").leaf());
      db.replicate("c", "{\"v\":1}", "2-aa", "1-root");
      db.replicate("c", "{\"v\":2}", "2-bb", "1-root");
      db.write(TestDatabase.local("_local/l", "0-0", "{\"m\":1}"));
      assertThat(audited.findings()).isEmpty();
    }

    @Test
    void the_clear_of_the_old_change_is_forgotten() {
      writing(is("clear", DatabaseSubspace.CHANGES), edit("a", first, "{}"));

      audited.assertFound("document \"a\"", "a change is left at", "in the shard 0");
    }

    @Test
    void a_write_does_not_see_that_its_shard_is_replaced() {
      byte[] shardMap = handle.shardMapKey();
      faulty.beforeNextCommit(() -> db.catalogue.reshard(db.name, 4));

      writing(it -> it.isBelow(shardMap), edit("a", first, "{}"));

      audited.assertFound("document \"a\"", "in the shard 0, where nobody looks for it");
      audited.assertFound("document \"a\"", "the changes index has no entry at");
    }

    @Test
    void a_shard_map_is_not_replaced() {
      faulty.lose(it -> Arrays.equals(it.key(), handle.shardMapKey()));
      catalogue.reshard(db.name, 2);

      audited.assertFound("database \"db\"", "an old shard map is not replaced");
    }

    @Test
    void a_change_lies_beyond_the_history_that_a_database_came_with() {
      DatabaseName name = DatabaseName.of("moved");
      MovedDatabase.copy(db.transactions, db.catalogue, db.name, name, MovedDatabase.ABOVE);
      assertThat(audited.findings()).isEmpty();
      DatabaseHandle moved = db.catalogue.open(name);
      Sequence beyond = new Sequence(0, Versionstamp.END.bytes());
      KeyValue change = firstChange(moved);
      db.transactions.run(
          tx -> {
            TupleWriter key =
                new TupleWriter(new ChangesSubspace(moved).range(new ShardId("0")).begin);
            beyond.writeTo(key);
            tx.set(key.toBytes(), change.getValue());
            return null;
          });

      audited.assertFound(
          "database \"moved\", document \"a\"", "lies in no incarnation that the database had");
    }

    private KeyValue firstChange(DatabaseHandle of) {
      return db.transactions.read(
          tx ->
              Awaiting.await(
                      tx.getRange(new ChangesSubspace(of).range(new ShardId("0")), 1).asList())
                  .get(0));
    }

    @Test
    void the_new_change_is_forgotten() {
      writing(is("mutate", DatabaseSubspace.CHANGES), edit("a", first, "{}"));

      audited.assertFound("document \"a\"", "the changes index has no entry at");
    }

    @Test
    void a_counter_is_forgotten() {
      writing(is("mutate", DatabaseSubspace.STATISTICS), edit("new", null, "{}"));

      audited.assertFound(
          "database \"db\"", "the counter of documents in slot", " says ", ", there are ");
      audited.assertFound("database \"db\"", "the counter of entries of the shard 0 in slot");
      audited.assertFound("database \"db\"", "the counter of active bytes in slot");
    }

    @Test
    void the_row_of_all_docs_is_forgotten() {
      writing(is("set", DatabaseSubspace.ALL_DOCS), edit("a", first, "{}"));

      audited.assertFound("document \"a\"", "all-docs has " + first);
    }

    @Test
    void the_row_of_a_deleted_document_is_forgotten() {
      writing(is("set", DatabaseSubspace.DELETED_DOCS), deletion("a", first));

      audited.assertFound("document \"a\"", "it is deleted and not among the deleted documents");
    }

    @Test
    void the_row_of_a_deleted_document_is_not_cleared() {
      db.delete("a", first);
      writing(is("clear", DatabaseSubspace.DELETED_DOCS), edit("a", null, "{}"));

      audited.assertFound("document \"a\"", "it is not deleted, but among the deleted documents");
    }

    @Test
    void the_row_of_all_docs_is_not_cleared() {
      writing(is("clear", DatabaseSubspace.ALL_DOCS), deletion("a", first));

      audited.assertFound("document \"a\"", "it should have no row");
    }

    @Test
    void a_leaf_of_a_body_is_forgotten() {
      byte[] document = new DocumentsSubspace(handle).document("a");
      writing(
          it -> it.method().equals("set") && it.isBelow(document) && hasPath(it.key()),
          edit("a", first, "{\"x\":1}"));

      audited.assertFound("document \"a\"", "the body of 2-", "its branch says 7 bytes of JSON");
    }

    @Test
    void a_whole_body_is_forgotten() {
      writing(is("set", DatabaseSubspace.DOCUMENTS), edit("a", first, "{\"x\":1}"));

      audited.assertFound("document \"a\"", "the body of 2-", "is missing");
    }

    @Test
    void an_old_body_is_not_cleared() {
      writing(is("clear", DatabaseSubspace.DOCUMENTS), edit("a", first, "{\"x\":1}"));

      audited.assertFound("document \"a\"", "a body is left of " + first);
    }

    @Test
    void an_edit_branch_is_forgotten() {
      writing(is("mutate", DatabaseSubspace.REVISIONS), edit("new", null, "{}"));

      audited.assertFound("document \"new\"", "it has no edit branch");
    }

    @Test
    void an_old_branch_is_not_cleared() {
      writing(is("clear", DatabaseSubspace.REVISIONS), edit("a", first, "{}"));

      audited.assertFound("document \"a\"", "its winner counts 1 branches, there are 2");
      audited.assertFound("document \"a\"", "its leaf " + first + " is an ancestor of another");
      audited.assertFound("document \"a\"", "is marked as a winner beside another");
    }

    @Test
    void a_winner_lists_another_leaf_than_there_is() {
      WinnerRow.misremember(db, "c");

      audited.assertFound("document \"c\"", "its winner does not list the leaves of the other");
    }

    @Test
    void a_winner_that_lists_no_leaves_is_sound() {
      WinnerRow.unlist(db, "c");

      assertThat(audited.findings()).isEmpty();
    }

    @Test
    void a_row_of_the_updates_log_is_forgotten() {
      byte[] log = RootSubspace.UPDATES.key(store.rootPrefix()).toBytes();
      writing(it -> it.isBelow(log), edit("a", first, "{}"));

      audited.assertFound(
          "database \"db\"", "the updates log tells of nothing since its last change");
    }

    @Test
    void a_creation_is_not_logged() {
      byte[] log = RootSubspace.UPDATES.key(store.rootPrefix()).toBytes();
      faulty.lose(it -> it.isBelow(log));
      catalogue.create(DatabaseName.of("quiet"), TestLayout.OPTIONS);

      audited.assertFound("database \"quiet\"", "the updates log does not tell of its creation");
    }

    @Test
    void an_end_is_not_logged() {
      byte[] log = RootSubspace.UPDATES.key(store.rootPrefix()).toBytes();
      faulty.lose(it -> it.isBelow(log));
      catalogue.delete(db.name);

      audited.assertFound(
          "the updates log", "of database \"db\", which is neither there nor ended");
    }

    @Test
    void a_name_outlives_its_database() {
      byte[] names = RootSubspace.CATALOGUE.key(store.rootPrefix()).toBytes();
      faulty.lose(it -> it.isBelow(names) && it.method().equals("clear"));
      catalogue.delete(db.name);

      audited.assertFound("database \"db\"", "the directory of its life " + handle.instance());
    }

    @Test
    void a_database_loses_its_name() {
      byte[] names = RootSubspace.CATALOGUE.key(store.rootPrefix()).toBytes();
      audited.corrupt(tx -> tx.clear(names, ByteArrayUtil.strinc(names)));

      audited.assertFound("the store", "a directory is left of the life " + handle.instance());
    }

    @Test
    void keys_that_belong_to_nothing_are_named() {
      audited.corrupt(
          tx -> {
            tx.set(handle.prefix(), new byte[0]);
            tx.set(ByteArrayUtil.join(handle.prefix(), new byte[] {0x15, 99}), new byte[0]);
            tx.set(ByteArrayUtil.join(store.rootPrefix(), new byte[] {0x15, 77}), new byte[0]);
            tx.set(
                DatabaseSubspace.CHANGES.key(handle.prefix()).string("x").toBytes(), new byte[0]);
            tx.set(DatabaseSubspace.LOCAL_DOCS.key(handle.prefix()).integer(7).toBytes(), VALUE);
            tx.set(DatabaseSubspace.STATISTICS.key(handle.prefix()).integer(9).toBytes(), COUNT);
          });

      assertThat(audited.problems())
          .filteredOn(it -> it.contains("belongs to no subspace"))
          .hasSize(3);
      audited.assertFound("database \"db\"", "a change in a shard that the database does not have");
      audited.assertFound("database \"db\"", "neither a local document nor its body");
      audited.assertFound("database \"db\"", "an unknown counter");
    }

    @Test
    void of_many_such_keys_a_few_are_named() {
      audited.corrupt(
          tx -> {
            for (int i = 0; i < 11; i++) {
              tx.set(
                  ByteArrayUtil.join(handle.prefix(), new byte[] {0x15, 99, (byte) i}),
                  new byte[0]);
            }
          });

      assertThat(audited.problems()).hasSize(11);
      audited.assertFound("database \"db\"", "and more of them behind that");
    }

    @Test
    void what_cannot_be_read_is_a_finding_and_no_failure() {
      audited.corrupt(
          tx -> {
            for (DatabaseSubspace subspace : DatabaseSubspace.values()) {
              if (!PARTS_OF_HANDLES.contains(subspace)) {
                tx.set(subspace.key(handle.prefix()).string("a").integer(1).toBytes(), VALUE);
                tx.set(subspace.key(handle.prefix()).nil().toBytes(), VALUE);
              }
            }
            tx.set(RootSubspace.TRANSACTION_IDS.key(store.rootPrefix()).nil().toBytes(), VALUE);
            tx.set(RootSubspace.LEASES.key(store.rootPrefix()).string("x").toBytes(), VALUE);
            tx.set(RootSubspace.SETTINGS.key(store.rootPrefix()).string("x").toBytes(), VALUE);
            tx.set(RootSubspace.UPDATE_POINTERS.key(store.rootPrefix()).nil().toBytes(), VALUE);
            tx.set(RootSubspace.UPDATES.key(store.rootPrefix()).integer(3).nil().toBytes(), VALUE);
            tx.set(RootSubspace.UPDATES.key(store.rootPrefix()).integer(16).toBytes(), VALUE);
            tx.set(RootSubspace.CATALOGUE.key(store.rootPrefix()).string("x").toBytes(), VALUE);
          });

      audited.assertFound("document \"a\"", "an edit branch cannot be read");
      audited.assertFound("document \"a\"", "a part of a body cannot be read");
      audited.assertFound("database \"db\"", "A key of REVISIONS cannot be read");
      audited.assertFound("the store", "A transaction id cannot be read");
      audited.assertFound("the store", "A lease cannot be read");
      audited.assertFound("the store", "A setting cannot be read");
      audited.assertFound("the updates log", "A pointer cannot be read");
      audited.assertFound("the updates log", "A row cannot be read");
      audited.assertFound("the updates log", "something in no bucket");
      audited.assertFound("the catalogue", "An entry cannot be read");
    }

    @Test
    void a_validator_that_cannot_be_read_leaves_the_database_unread() {
      audited.corrupt(
          tx -> tx.set(DatabaseSubspace.VALIDATORS.key(handle.prefix()).nil().toBytes(), VALUE));

      audited.assertFound("database \"db\"", "its configuration cannot be read");
    }

    @Test
    void an_entry_of_the_catalogue_cannot_be_read_any_more() {
      byte[] entry =
          RootSubspace.CATALOGUE.key(store.rootPrefix()).string(db.name.text()).toBytes();
      audited.corrupt(tx -> tx.set(entry, VALUE));

      audited.assertFound("the catalogue", "An entry cannot be read");
    }

    @Test
    void a_local_document_loses_its_row() {
      byte[] row = DatabaseSubspace.LOCAL_DOCS.key(handle.prefix()).integer(0).toBytes();
      audited.corrupt(tx -> tx.clear(row, ByteArrayUtil.strinc(row)));

      audited.assertFound("document \"_local/l\"", "a body is left of a local document");
    }

    @Test
    void a_pointer_into_the_updates_log_points_nowhere() {
      byte[] pointer =
          RootSubspace.UPDATE_POINTERS
              .key(store.rootPrefix())
              .integer(1)
              .string(handle.instance().hex())
              .toBytes();
      byte[] value = new TupleWriter(32).integer(1).versionstamp(new byte[12]).toBytes();
      audited.corrupt(tx -> tx.set(pointer, value));

      audited.assertFound("the updates log", "a pointer to a row that is not there");
    }

    @Test
    void ids_that_are_left_behind_are_noted_and_no_finding() {
      TestStores.onlyEmbedded(); // On a cluster every writer leaves ids behind for a while.
      FaultyStore cluster = new FaultyStore(store, true);
      new DocumentWriter(cluster.store(), db.catalogue)
          .write(db.name, List.of(edit("i", null, "{}")));

      AuditReport report = new StoreAudit(store, AuditListener.SILENT).run();

      assertThat(report.findings()).isEmpty();
      assertThat(report.notes()).containsExactly("1 transaction ids wait to be cleared.");
    }

    @Test
    void findings_beyond_the_limit_are_counted() {
      writing(
          is("set", DatabaseSubspace.ALL_DOCS),
          IntStream.range(0, 1_001).mapToObj(i -> edit("d" + i, null, "{}")).toArray(Edit[]::new));

      AuditReport report = new StoreAudit(store, AuditListener.SILENT).run();

      assertThat(report.found()).isEqualTo(1_001);
      assertThat(report.findings()).hasSize(1_000);
    }

    @Test
    void writers_at_work_are_not_taken_for_faults() throws Exception {
      AtomicBoolean done = new AtomicBoolean();
      ExecutorService executor = Executors.newFixedThreadPool(3);
      try {
        List<Future<?>> writers = new ArrayList<>();
        writers.add(executor.submit(() -> editUntil(done, "one")));
        writers.add(executor.submit(() -> editUntil(done, "two")));
        writers.add(executor.submit(() -> createUntil(done)));
        for (int i = 0; i < 10; i++) {
          StoreAudit audit = new StoreAudit(store, AuditListener.SILENT, AuditedStore.PAGE_BY_PAGE);
          assertThat(audit.run().findings()).isEmpty();
        }
        done.set(true);
        for (Future<?> it : writers) {
          it.get();
        }
      } finally {
        done.set(true);
        executor.shutdownNow();
      }
      assertThat(audited.findings()).isEmpty();
    }

    private void editUntil(AtomicBoolean done, String prefix) {
      for (int i = 0; !done.get(); i++) {
        String id = prefix + i % 50;
        RevisionId base =
            db.branches(id).stream()
                .findFirst()
                .filter(it -> !it.deleted())
                .map(it -> it.leaf())
                .orElse(null);
        db.write(
            base != null && i % 7 == 0
                ? deletion(id, base)
                : edit(id, base, "{\"i\":" + i + ",\"j\":[{}]}"));
      }
    }

    private void createUntil(AtomicBoolean done) {
      DatabaseName name = DatabaseName.of("passing");
      for (int i = 0; !done.get(); i++) {
        if (i < 8) {
          db.catalogue.reshard(db.name, 1 + i % 4);
        }
        db.catalogue.create(name, TestLayout.OPTIONS);
        db.writer.write(name, List.of(edit("a", null, "{}")));
        db.catalogue.delete(name);
      }
    }

    /** Makes edits whose transactions lack the given operations. */
    private void writing(Predicate<Operation> forgotten, Edit... edits) {
      faulty.lose(forgotten);
      assertThat(writer.write(db.name, List.of(edits)).outcomes())
          .noneMatch(EditOutcome.Failed.class::isInstance);
    }

    private Predicate<Operation> is(String method, DatabaseSubspace subspace) {
      byte[] prefix = subspace.key(handle.prefix()).toBytes();
      return operation -> operation.method().equals(method) && operation.isBelow(prefix);
    }

    private boolean hasPath(byte[] key) {
      int idBytes = new DocumentsSubspace(handle).document("a").length;
      return DocumentsSubspace.decodeKey(key, idBytes).pathOffset() < key.length;
    }
  }

  /** The audit finds contents that are damaged, lost or forgotten. */
  @Nested
  class OfAttachments {
    private final Store store = stores.fresh();
    private final TestDatabase db = TestDatabase.create(store);
    private final AuditedStore audited = new AuditedStore(store, db.transactions);
    private final DatabaseHandle handle = db.catalogue.open(db.name);
    private ContentId content;

    @BeforeEach
    void a_content_and_an_upload() {
      content = upload(new byte[100_000]).finish(Optional.empty()).id();
      upload(new byte[1_000_000]);
      assertThat(audited.findings()).isEmpty();
    }

    private ContentUpload upload(byte[] bytes) {
      ContentUpload upload = new ContentStore(db.catalogue, db.transactions).begin(db.name);
      upload.write(bytes, 0, bytes.length);
      return upload;
    }

    private void corrupt(BiConsumer<Transaction, byte[]> change) {
      audited.corrupt(tx -> change.accept(tx, handle.prefix()));
    }

    private void clear(AttachmentKeys part) {
      corrupt((tx, prefix) -> tx.clear(part.range(prefix)));
    }

    @Test
    void a_chunk_is_lost() {
      clear(AttachmentKeys.CHUNKS);
      audited.assertFound("database \"db\"", "the content " + content.hex(), "is damaged");
    }

    @Test
    void a_content_is_lost() {
      clear(AttachmentKeys.CONTENTS);
      audited.assertFound("database \"db\"", "chunks are left of");
    }

    @Test
    void a_content_gets_the_length_that_it_has_when_decompressed() {
      byte[] gzip = {31, -117, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0};
      ContentId empty = upload(gzip).finish(Optional.of(5L)).id();
      audited.assertFound("database \"db\"", "the content " + empty.hex(), "does not decompress");

      SoundStore.repair(db.store);

      Optional<StoredContent> left =
          db.read((tx, handle) -> new ContentsSubspace(handle.prefix()).get(tx, empty).join());
      assertThat(left.orElseThrow().plainLength()).contains(0L);
    }

    @Test
    void a_content_that_came_again_since_it_was_found_damaged_stays() {
      clear(AttachmentKeys.CHUNKS);
      Repair repair = audited.findings().get(0).repair().orElseThrow();
      clear(AttachmentKeys.CONTENTS);
      content = upload(new byte[100_000]).finish(Optional.empty()).id();

      corrupt((tx, prefix) -> repair.change().accept(tx));

      Optional<StoredContent> left =
          db.read((tx, handle) -> new ContentsSubspace(handle.prefix()).get(tx, content).join());
      assertThat(left).isPresent();
    }

    @Test
    void an_upload_is_lost() {
      clear(AttachmentKeys.UPLOADS);
      audited.assertFound("database \"db\"", "chunks are left of");
    }

    @Test
    void a_content_is_forgotten() {
      corrupt((tx, prefix) -> new UnusedSubspace(prefix).clear(tx, content));
      audited.assertFound("database \"db\"", "the content " + content.hex(), "the sweeper");
    }

    @Test
    void a_reference_leads_nowhere() {
      ContentId other = new ContentId("ab".repeat(32));
      byte[] leaf = new TupleWriter(8).bool(true).integer(1).bytes(new byte[16]).toBytes();
      corrupt((tx, prefix) -> new ReferencesSubspace(prefix).put(tx, other, "doc", leaf));
      audited.assertFound("document \"doc\"", "refers to the content " + other.hex());
    }

    @Test
    void rows_of_all_parts_are_unreadable() {
      byte[] garbage = {1};
      for (AttachmentKeys part : AttachmentKeys.values()) {
        corrupt((tx, prefix) -> tx.set(part.key(prefix).octet(1).toBytes(), garbage));
      }
      assertThat(audited.findings()).hasSizeGreaterThanOrEqualTo(AttachmentKeys.values().length);
    }

    @Test
    void a_row_belongs_to_no_part() {
      corrupt(
          (tx, prefix) ->
              tx.set(
                  DatabaseSubspace.ATTACHMENTS.key(prefix).integer(99).toBytes(), new byte[] {1}));
      audited.assertFound("database \"db\"", "something of attachments that belongs to none");
    }
  }

  /** The audit finds what a writer forgets of stored feeds. */
  @Nested
  class OfFeeds {
    private final Store store = stores.fresh();
    private final TestDatabase db = TestDatabase.create(store);
    private final AuditedStore audited = new AuditedStore(store, db.transactions);
    private final FaultyStore faulty = new FaultyStore(store);

    private final DocumentWriter writer =
        new DocumentWriter(
            faulty.store(),
            new Catalogue(
                faulty.store(),
                new TransactionRunner(faulty.store(), TransactionLimits.DEFAULT),
                InstantSource.system()));
    private DatabaseHandle handle;
    private RevisionId first;

    @BeforeEach
    void aSoundDatabase() {
      new FeedCatalogue(db.catalogue, db.transactions, new FillingJobs(store.rootPrefix()))
          .put(db.name, FeedDefinition.ofChannels("f", "ch"));
      handle = db.catalogue.open(db.name);
      first = db.put("a", "{\"ch\":\"x\"}");
      assertThat(audited.findings()).isEmpty();
    }

    private void moving(Predicate<Operation> forgotten) {
      faulty.lose(forgotten);
      assertThat(writer.write(db.name, List.of(edit("a", first, "{\"ch\":\"y\"}"))).outcomes())
          .noneMatch(EditOutcome.Failed.class::isInstance);
    }

    private byte[] part(int part) {
      return RefusedSubspace.part(handle, db.catalogue.open(db.name).feeds().all().get(0), part)
          .toBytes();
    }

    private Predicate<Operation> is(String method, int part) {
      byte[] prefix = part(part);
      return operation -> operation.method().equals(method) && operation.isBelow(prefix);
    }

    @Test
    void an_entry_is_not_removed() {
      moving(is("clear", RefusedSubspace.ENTRIES));

      audited.assertFound(
          "database \"db\"", "The stored feed f", "an entry that the document a should not have");
    }

    @Test
    void no_entry_is_written() {
      moving(is("mutate", RefusedSubspace.ENTRIES));

      assertThat(audited.problems())
          .containsExactlyInAnyOrder(
              "database \"db\": The stored feed f lacks the document a",
              "database \"db\": The stored feed f has no entry where a has left it");
    }

    @Test
    void it_is_not_noted_where_a_document_left() {
      moving(is("mutate", RefusedSubspace.REMOVALS));

      audited.assertFound(
          "database \"db\"", "The stored feed f", "an entry that the document a should not have");
    }

    @Test
    void a_departure_that_an_earlier_version_wrote_gets_its_entry_of_any_channel() {
      moving(operation -> false);
      byte[] feed = part(RefusedSubspace.ENTRIES);
      List<KeyValue> before = rows(feed);
      byte[] ofAny = new TupleWriter(feed).string("").toBytes();
      db.transactions.run(
          tx -> {
            tx.clear(Range.startsWith(ofAny));
            return null;
          });
      assertThat(rows(feed)).hasSize(before.size() - 1);

      audited.assertFound("database \"db\"", "The stored feed f", "no entry where a has left it");
      List<String> done = new ArrayList<>();
      AuditReport report =
          new StoreRepair(store, Optional.empty())
              .run(AuditListener.SILENT, (place, repair) -> done.add(repair.sentence()));

      assertThat(report.findings()).isEmpty();
      assertThat(done).hasSize(1);
      assertThat(rows(feed)).isEqualTo(before);
    }

    private List<KeyValue> rows(byte[] prefix) {
      return db.transactions.read(tx -> tx.getRange(Range.startsWith(prefix)).asList().join());
    }
  }

  /** The audit finds any damage to the rows of a long string. */
  @Nested
  class OfLongStrings {
    private static final int ROWS = 4;

    /** A string in four rows, the last of 50 003 bytes, and another member. */
    private static final String LONG = "{\"s\":\"" + "x".repeat(349_998) + "\",\"t\":1}";

    private final Store store = stores.fresh();
    private final TestDatabase db = TestDatabase.create(store);
    private final AuditedStore audited = new AuditedStore(store, db.transactions);
    private final DatabaseHandle handle = db.catalogue.open(db.name);

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void a_row_is_lost(int row) {
      byte[] key = rowsOfString().get(row);
      audited.corrupt(tx -> tx.clear(key));

      audited.assertFound("document \"long\"", "the body of 1-", "its branch says");
      audited.assertFound("document \"long\"", "cannot be read (");
    }

    @Test
    void there_is_a_row_too_many() {
      byte[] next = lastRow();
      next[next.length - 1]++;
      audited.corrupt(tx -> tx.set(next, VALUE));

      audited.assertFound(
          "document \"long\"",
          "a part of a body cannot be read",
          "A leaf has other leaves below it");
    }

    @Test
    void a_row_has_another_number() {
      byte[] last = lastRow();
      byte[] other = last.clone();
      other[other.length - 1] = 9;
      audited.corrupt(
          tx -> {
            tx.set(other, Awaiting.await(tx.get(last)));
            tx.clear(last);
          });

      audited.assertFound(
          "document \"long\"", "a part of a body cannot be read", "lacks 50003 of its 349998");
    }

    @Test
    void a_row_is_short() {
      byte[] key = rowsOfString().get(2);
      audited.corrupt(tx -> tx.set(key, VALUE));

      audited.assertFound(
          "document \"long\"", "cannot be read (A string in pieces lacks 99999 of its");
    }

    @Test
    void a_row_lies_under_another_member() {
      byte[] key = rowsOfString().get(1);
      int body =
          new DocumentsSubspace(handle).revision("long", false, db.winner("long").leaf()).length;
      byte[] elsewhere =
          ByteArrayUtil.join(
              Arrays.copyOf(key, body),
              new TupleWriter(8).string("t").toBytes(),
              Arrays.copyOfRange(key, key.length - 3, key.length));
      audited.corrupt(tx -> tx.set(elsewhere, Awaiting.await(tx.get(key))));

      audited.assertFound("document \"long\"", "a part of a body cannot be read");
    }

    @Test
    void a_local_document_lacks_a_row() {
      db.write(TestDatabase.local("_local/long", "0-0", LONG));
      assertThat(audited.findings()).isEmpty();
      byte[] last = rows(new LocalDocsSubspace(handle).body("_local/long")).get(ROWS - 1);
      audited.corrupt(tx -> tx.clear(last));

      audited.assertFound(
          "document \"_local/long\"", "its body cannot be read (A string in pieces lacks");
    }

    private byte[] lastRow() {
      return rowsOfString().get(ROWS - 1).clone();
    }

    /** Returns the keys of the string in an undamaged document. */
    private List<byte[]> rowsOfString() {
      db.put("long", LONG);
      assertThat(audited.findings()).isEmpty();
      List<byte[]> metadataStringAndOther = rows(new DocumentsSubspace(handle).document("long"));
      assertThat(metadataStringAndOther).hasSize(1 + ROWS + 1);
      return metadataStringAndOther.subList(1, 1 + ROWS);
    }

    private List<byte[]> rows(byte[] prefix) {
      return db.read(
          (tx, database) ->
              Awaiting.await(tx.getRange(prefix, DocumentsSubspace.endOf(prefix)).asList()).stream()
                  .map(KeyValue::getKey)
                  .toList());
    }
  }
}
