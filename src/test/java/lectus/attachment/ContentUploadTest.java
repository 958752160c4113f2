package lectus.attachment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import lectus.attachment.AttachmentIntake.ContentStore;
import lectus.attachment.ContentUpload.Content;
import lectus.audit.testing.SoundStore;
import lectus.database.Catalogue;
import lectus.database.Catalogue.DatabaseSettings;
import lectus.database.DatabaseCache;
import lectus.database.DatabaseName;
import lectus.database.testing.TestLayout;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusException;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Contents are stored chunk by chunk, once each, and swept when nobody refers to them. */
class ContentUploadTest {
  private static final int CHUNK = ContentUpload.CHUNK_BYTES;
  private static final byte[] LEAF = new TupleWriter(8).bool(true).integer(1).toBytes();

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);
  private final ContentStore contents = new ContentStore(db.catalogue, db.transactions);

  private static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private ContentUpload begun(byte[] bytes) {
    ContentUpload upload = contents.begin(db.name);
    for (int at = 0; at < bytes.length; at += 7_777) {
      upload.write(bytes, at, Math.min(bytes.length, at + 7_777));
    }
    return upload;
  }

  private Content stored(byte[] bytes) {
    return begun(bytes).finish(Optional.empty());
  }

  private StoredBytes source(ContentId id, long from, long to) {
    return new StoredBytes(
        body -> db.transactions.read(tx -> body.apply(tx, db.catalogue.current(tx, db.name))),
        id,
        from,
        to);
  }

  private byte[] read(ContentId id, long from, long to) {
    return rest(source(id, from, to));
  }

  private static byte[] rest(StoredBytes source) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] piece = source.next(); piece.length > 0; piece = source.next()) {
      all.writeBytes(piece);
    }
    return all.toByteArray();
  }

  private int rows(AttachmentKeys part) {
    return db.read(
        (tx, handle) -> Awaiting.await(tx.getRange(part.range(handle.prefix())).asList()).size());
  }

  private void refer(ContentId id, boolean refers) {
    db.transactions.run(
        tx -> {
          byte[] prefix = db.catalogue.current(tx, db.name).prefix();
          ReferencesSubspace references = new ReferencesSubspace(prefix);
          if (refers) {
            references.put(tx, id, "doc", LEAF);
          } else {
            references.clear(tx, id, "doc", LEAF);
            new UnusedSubspace(prefix).put(tx, id, Awaiting.await(tx.getReadVersion()));
          }
          return null;
        });
  }

  private void sweep(long graceVersions) {
    StoreSweep sweep = new StoreSweep(store, db.catalogue, graceVersions, 2);
    while (sweep.step()) {
      continue;
    }
    sweep.giveBack();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 8 * CHUNK, 20 * CHUNK + 5})
  void what_was_stored_is_read_again(int length) {
    byte[] bytes = bytes(length);
    Content content = stored(bytes);

    assertThat(content.length()).isEqualTo(length);
    assertThat(content.md5()).isEqualTo(Md5.of(Digests.md5().digest(bytes)));
    assertThat(content.id().hex())
        .isEqualTo(HexFormat.of().formatHex(Digests.sha256().digest(bytes)));
    assertThat(read(content.id(), 0, length)).isEqualTo(bytes);
    assertThat(rows(AttachmentKeys.CHUNKS)).isEqualTo((length + CHUNK - 1) / CHUNK);
    assertThat(rows(AttachmentKeys.UPLOADS)).isZero();
  }

  @Test
  void a_content_keeps_its_chunks_though_its_upload_is_given_up_at_last() {
    byte[] bytes = bytes(9 * CHUNK);
    ContentUpload upload = begun(bytes);
    Content content = upload.finish(Optional.empty());
    upload.abandon();
    assertThat(read(content.id(), 0, bytes.length)).isEqualTo(bytes);
  }

  @Test
  void any_part_is_read() {
    byte[] bytes = bytes(3 * CHUNK + 10);
    ContentId id = stored(bytes).id();
    int[][] parts = {
      {0, 1},
      {CHUNK - 1, CHUNK + 1},
      {CHUNK, 2 * CHUNK},
      {5, bytes.length},
      {bytes.length - 1, bytes.length}
    };
    for (int[] part : parts) {
      assertThat(read(id, part[0], part[1])).isEqualTo(Arrays.copyOfRange(bytes, part[0], part[1]));
    }
  }

  @Test
  void a_content_is_stored_once() {
    byte[] bytes = bytes(30 * CHUNK);
    Content one = stored(bytes);
    Content other = stored(bytes);

    assertThat(other.id()).isEqualTo(one.id());
    assertThat(rows(AttachmentKeys.CONTENTS)).isEqualTo(1);
    assertThat(rows(AttachmentKeys.CHUNKS)).isEqualTo(30);
    assertThat(rows(AttachmentKeys.UPLOADS)).isZero();
  }

  @Test
  void an_abandoned_upload_leaves_nothing() {
    begun(bytes(30 * CHUNK)).abandon();

    assertThat(rows(AttachmentKeys.CHUNKS)).isZero();
    assertThat(rows(AttachmentKeys.UPLOADS)).isZero();
  }

  @Test
  void what_is_unused_is_swept_after_the_grace_and_not_before() {
    stored(bytes(12 * CHUNK));
    begun(bytes(9 * CHUNK));

    sweep(StoreSweep.GRACE_VERSIONS);
    assertThat(rows(AttachmentKeys.CONTENTS)).isEqualTo(1);
    assertThat(rows(AttachmentKeys.UPLOADS)).isEqualTo(1);

    sweep(-1);
    for (AttachmentKeys part : AttachmentKeys.values()) {
      assertThat(rows(part)).as(part.name()).isZero();
    }
  }

  @Test
  void every_database_is_looked_at_and_only_those_with_something_to_sweep_are_opened() {
    stored(bytes(1));
    for (String name : List.of("a", "b", "c", "y", "z")) {
      db.catalogue.create(DatabaseName.of(name), TestLayout.OPTIONS);
    }
    DatabaseCache caches = new DatabaseCache(store.rootPrefix(), 1 << 20);
    Catalogue other =
        new Catalogue(
            store, db.transactions, InstantSource.system(), caches, () -> DatabaseSettings.DEFAULT);
    StoreSweep sweep = new StoreSweep(store, other, -1, 2);

    assertThat(Stream.generate(sweep::step).takeWhile(goesOn -> goesOn).count()).isBetween(3L, 4L);
    assertThat(rows(AttachmentKeys.CONTENTS)).isZero();
    assertThat(caches.openDatabases()).isEqualTo(1);
  }

  @Test
  void what_a_leaf_shows_is_kept_until_it_shows_it_no_more() {
    byte[] bytes = bytes(2 * CHUNK);
    ContentId id = stored(bytes).id();
    refer(id, true);
    sweep(-1);
    assertThat(read(id, 0, bytes.length)).isEqualTo(bytes);
    assertThat(rows(AttachmentKeys.UNUSED)).isZero();

    refer(id, false);
    sweep(-1);
    assertThat(rows(AttachmentKeys.CHUNKS)).isZero();
    assertThatThrownBy(() -> read(id, 0, 1)).hasMessageContaining("removed meanwhile");
    // The last check of the store wants references to be those of documents.
    assertThat(rows(AttachmentKeys.REFERENCES)).isZero();
  }

  @Test
  void a_reader_goes_on_when_a_content_was_swept_and_stored_again() {
    byte[] bytes = bytes(3 * CHUNK);
    ContentId id = stored(bytes).id();
    StoredBytes source = source(id, 0, bytes.length);
    assertThat(source.next()).isEqualTo(Arrays.copyOf(bytes, CHUNK));
    sweep(-1);
    assertThat(rows(AttachmentKeys.CHUNKS)).isZero();
    stored(bytes);

    assertThat(rest(source)).isEqualTo(Arrays.copyOfRange(bytes, CHUNK, bytes.length));
    StoredBytes late = source(id, 0, bytes.length);
    assertThat(late.next()).hasSize(CHUNK);
    sweep(-1);
    assertThatThrownBy(late::next)
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("removed meanwhile");
  }

  @Test
  void an_upload_that_was_swept_cannot_be_finished() {
    ContentUpload upload = begun(bytes(9 * CHUNK));
    sweep(-1);

    assertThatThrownBy(() -> upload.finish(Optional.empty()))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("paused for too long");
    assertThat(rows(AttachmentKeys.CONTENTS)).isZero();
    assertThat(rows(AttachmentKeys.CHUNKS)).isZero();
  }

  @Test
  void an_upload_does_not_go_on_in_the_next_life_of_its_database() {
    ContentUpload upload = begun(bytes(17 * CHUNK));
    db.catalogue.delete(db.name);
    db.catalogue.create(db.name, TestLayout.OPTIONS);

    assertThatThrownBy(() -> upload.finish(Optional.empty()))
        .hasMessageContaining("Database does not exist");
    assertThat(rows(AttachmentKeys.CHUNKS)).isZero();
  }
}
