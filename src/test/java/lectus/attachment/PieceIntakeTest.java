package lectus.attachment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import lectus.audit.testing.SoundStore;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attachments that come in pieces are stored as far as they have come. */
class PieceIntakeTest {
  private static final int CHUNK = ContentUpload.CHUNK_BYTES;
  private static final int TOTAL = 20 * CHUNK + 5;
  private static final UploadTarget TARGET = UploadTarget.of("doc", "name");
  private static final UploadName NAME = UploadName.of(Optional.of("anna"), "u1");

  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final Store store = stores.fresh();
  private final TestDatabase db = TestDatabase.create(store);
  private final PieceIntake uploads = new PieceIntake(db.catalogue, db.transactions);
  private final byte[] bytes = bytes();

  private static byte[] bytes() {
    byte[] bytes = new byte[TOTAL];
    new Random(1).nextBytes(bytes);
    return bytes;
  }

  private UploadPiece piece(int from) {
    return uploads.piece(db.name, NAME, TARGET, from, TOTAL);
  }

  private ResumableUpload sent(int from, int to) {
    UploadPiece piece = piece(from);
    piece.write(bytes, from, to);
    return piece.finish();
  }

  private byte[] read(ResumableUpload upload) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    long chunk = 0;
    List<byte[]> next = uploads.chunks(db.name, upload, chunk);
    while (!next.isEmpty()) {
      next.forEach(all::writeBytes);
      chunk += next.size();
      next = uploads.chunks(db.name, upload, chunk);
    }
    return all.toByteArray();
  }

  private int rows(AttachmentKeys part) {
    return db.read(
        (tx, handle) -> Awaiting.await(tx.getRange(part.range(handle.prefix())).asList()).size());
  }

  private void sweep(long graceVersions) {
    StoreSweep sweep = new StoreSweep(store, db.catalogue, graceVersions, 2);
    while (sweep.step()) {
      continue;
    }
    sweep.giveBack();
  }

  private void begin(UploadName name) {
    UploadPiece piece = uploads.piece(db.name, name, TARGET, 0, TOTAL);
    piece.write(bytes, 0, 1);
    piece.finish();
  }

  private static void assertRefused(
      Class<? extends LectusError> why, org.assertj.core.api.ThrowableAssert.ThrowingCallable it) {
    assertThatThrownBy(it)
        .isInstanceOfSatisfying(
            LectusException.class, e -> assertThat(e.error()).isInstanceOf(why));
  }

  @ParameterizedTest
  @ValueSource(ints = {100_001, CHUNK, 8 * CHUNK, 13 * CHUNK - 1, TOTAL - 1, TOTAL})
  void pieces_of_any_length_make_the_whole(int length) {
    ResumableUpload upload = null;
    for (int from = 0; from < TOTAL; from += length) {
      upload = sent(from, Math.min(TOTAL, from + length));
      assertThat(rows(AttachmentKeys.CHUNKS)).isEqualTo((int) upload.lastChunk() + 1);
    }
    assertThat(upload.isComplete()).isTrue();
    assertThat(read(upload)).isEqualTo(bytes);
  }

  @Test
  void of_two_clients_that_send_the_same_piece_one_is_refused() {
    sent(0, 10);
    UploadPiece first = piece(10);
    UploadPiece second = piece(10);
    first.write(bytes, 10, 20);
    second.write(new byte[10], 0, 10);
    first.finish();

    assertRefused(LectusError.WrongOffset.class, second::finish);
    assertThat(read(sent(20, TOTAL))).isEqualTo(bytes);
  }

  @Test
  void a_piece_does_not_go_on_with_an_upload_that_was_given_up() {
    ResumableUpload before = sent(0, 10);
    UploadPiece late = piece(10);
    late.write(bytes, 10, 20);
    uploads.clear(db.name, NAME, before);
    assertRefused(LectusError.WrongOffset.class, late::finish);

    sent(0, 10);
    assertRefused(LectusError.WrongOffset.class, late::finish);
    uploads.clear(db.name, NAME, before);
    assertThat(rows(AttachmentKeys.RESUMABLES)).as("the second one").isEqualTo(1);
  }

  @Test
  void an_upload_that_pauses_for_too_long_is_swept() {
    sent(0, 3 * CHUNK);
    sweep(Long.MAX_VALUE / 2);
    assertThat(rows(AttachmentKeys.CHUNKS)).isEqualTo(3);

    UploadPiece late = piece(3 * CHUNK);
    late.write(bytes, 3 * CHUNK, 4 * CHUNK);
    sweep(-1);
    assertThat(rows(AttachmentKeys.CHUNKS)).isZero();
    assertThat(rows(AttachmentKeys.RESUMABLES)).isZero();
    assertRefused(LectusError.WrongOffset.class, late::finish);
  }

  @Test
  void a_user_has_so_many_uploads_and_no_more() {
    for (int i = 0; i < PieceIntake.MOST_OF_USER; i++) {
      begin(UploadName.of(Optional.of("bob"), "u" + i));
    }
    assertRefused(
        LectusError.TooManyRequests.class,
        () -> begin(UploadName.of(Optional.of("bob"), "another")));
    begin(NAME);
  }

  @Test
  void a_database_has_so_many_uploads_and_no_more() {
    db.transactions.run(
        tx -> {
          ResumablesSubspace rows =
              new ResumablesSubspace(db.catalogue.current(tx, db.name).prefix());
          ChunksSubspace chunks = new ChunksSubspace(db.catalogue.current(tx, db.name).prefix());
          for (int i = 1; i < PieceIntake.MOST_OF_DATABASE; i++) {
            ResumableUpload upload = ResumableUpload.begun(TARGET, TOTAL).upTo(1);
            chunks.put(tx, upload.chunks(), 0, new byte[1]);
            rows.put(tx, UploadName.of(Optional.of("user" + i), "u"), upload, 0);
          }
          return null;
        });
    begin(NAME);
    UploadName more = UploadName.of(Optional.of("bob"), "u");
    assertRefused(LectusError.TooManyRequests.class, () -> begin(more));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 65})
  void ids_are_neither_empty_nor_long(int length) {
    assertRefused(
        LectusError.BadRequest.class, () -> UploadName.of(Optional.empty(), "a".repeat(length)));
    UploadName.of(Optional.empty(), "a".repeat(Math.min(64, length + 1)));
  }
}
