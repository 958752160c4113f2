package lectus.document.write;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.replicated;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentIntake.ContentStore;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.AttachmentList;
import lectus.attachment.ContentId;
import lectus.attachment.ContentUpload;
import lectus.attachment.ContentUpload.Content;
import lectus.attachment.Md5;
import lectus.audit.testing.SoundStore;
import lectus.document.DocumentsSubspace;
import lectus.document.edit.AttachmentEdits;
import lectus.document.edit.Edit;
import lectus.document.edit.EditedAttachment;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusError;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents refer to contents, take over what they had, and count their references. */
class AttachedDocumentsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final TestDatabase db = TestDatabase.create(stores.fresh());

  private Content stored(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    ContentUpload upload = new ContentStore(db.catalogue, db.transactions).begin(db.name);
    upload.write(bytes, 0, bytes.length);
    return upload.finish(Optional.empty());
  }

  private EditedAttachment ready(String name, String text) {
    Content it = stored(text);
    Attachment attachment =
        new Attachment(name, "text/plain", it.id(), it.md5(), it.length(), it.length(), false, 0);
    return new EditedAttachment.Ready(attachment, true);
  }

  private static EditedAttachment stub(String name) {
    return new EditedAttachment.Stub(name, Optional.empty(), Optional.empty());
  }

  private static EditedAttachment stub(String name, long position) {
    return new EditedAttachment.Stub(name, Optional.of(position), Optional.empty());
  }

  private static Edit with(Edit edit, EditedAttachment... attachments) {
    return edit.withAttachments(new AttachmentEdits(Arrays.asList(attachments)));
  }

  private RevisionId written(Edit edit) {
    return ((EditOutcome.Written) db.write(edit)).revision();
  }

  private LectusError refused(Edit edit) {
    return ((EditOutcome.Failed) db.write(edit)).error();
  }

  private AttachmentList shown(String id, RevisionId leaf) {
    return db.read(
        (tx, handle) ->
            Awaiting.await(new DocumentsSubspace(handle).attachments(tx, id, false, leaf)));
  }

  private List<String> names(String id, RevisionId leaf) {
    return shown(id, leaf).all().stream().map(it -> it.name() + "@" + it.position()).toList();
  }

  private int rows(AttachmentKeys part) {
    return db.read(
        (tx, handle) -> Awaiting.await(tx.getRange(part.range(handle.prefix())).asList()).size());
  }

  @Test
  void a_stub_keeps_what_the_revision_before_had() {
    RevisionId first = written(with(edit("a", null, "{}"), ready("x", "1"), ready("y", "2")));
    RevisionId second = written(with(edit("a", first, "{}"), stub("x"), ready("z", "3")));
    assertThat(names("a", second)).containsExactly("x@1", "z@2");

    RevisionId third = written(with(edit("a", second, "{}"), stub("x", 1), ready("z", "4")));
    assertThat(names("a", third)).containsExactly("x@1", "z@3");
    assertThat(names("a", second)).isEmpty();
  }

  @Test
  void what_is_not_named_is_gone() {
    RevisionId first = written(with(edit("a", null, "{}"), ready("x", "1")));
    RevisionId second = written(edit("a", first, "{}"));

    assertThat(names("a", second)).isEmpty();
    assertThat(rows(AttachmentKeys.REFERENCES)).isZero();
    assertThat(rows(AttachmentKeys.UNUSED)).isEqualTo(1);
  }

  @Test
  void a_deletion_gives_its_references_back_and_may_have_attachments_itself() {
    RevisionId first = written(with(edit("a", null, "{}"), ready("x", "1")));
    written(deletion("a", first));
    assertThat(rows(AttachmentKeys.REFERENCES)).isZero();

    RevisionId other = written(with(edit("b", null, "{}"), ready("x", "1")));
    written(with(edit("b", other, "{\"_deleted\":true}"), stub("x")));
    assertThat(rows(AttachmentKeys.REFERENCES)).isEqualTo(1);
  }

  @Test
  void the_revision_depends_on_the_attachments() {
    RevisionId plain = written(edit("a", null, "{}"));
    RevisionId one = written(with(edit("b", null, "{}"), ready("x", "1")));
    RevisionId same = written(with(edit("c", null, "{}"), ready("x", "1")));
    RevisionId other = written(with(edit("d", null, "{}"), ready("x", "2")));

    assertThat(one).isEqualTo(same).isNotEqualTo(other).isNotEqualTo(plain);
  }

  @Test
  void many_documents_share_a_content() {
    for (int i = 0; i < 20; i++) {
      written(with(edit("d" + i, null, "{}"), ready("x", "same"), ready("y", "same")));
    }
    assertThat(rows(AttachmentKeys.CONTENTS)).isEqualTo(1);
    assertThat(rows(AttachmentKeys.REFERENCES)).isEqualTo(20);
  }

  @Test
  void a_stub_of_nothing_is_refused_but_a_conflict_comes_first() {
    RevisionId first = written(with(edit("a", null, "{}"), ready("x", "1")));
    LectusError missing = new LectusError.MissingStub("a", List.of("y"));

    assertThat(refused(with(edit("a", first, "{}"), stub("y")))).isEqualTo(missing);
    assertThat(refused(with(edit("a", first, "{}"), stub("x", 7))).error())
        .isEqualTo("missing_stub");
    assertThat(refused(with(edit("new", null, "{}"), stub("x"))).error()).isEqualTo("missing_stub");
    assertThat(refused(with(edit("a", null, "{}"), stub("y"))))
        .isEqualTo(new LectusError.Conflict());
    assertThat(refused(with(edit("a", RevisionId.of("1-b"), "{}"), stub("x"))))
        .isEqualTo(new LectusError.Conflict());
  }

  @Test
  void a_content_that_is_not_there_is_not_shown() {
    Attachment lost =
        new Attachment(
            "x", "t", new ContentId("ab".repeat(32)), new Md5("00".repeat(16)), 1, 1, false, 1);

    assertThat(refused(with(edit("a", null, "{}"), new EditedAttachment.Ready(lost, true))))
        .isInstanceOf(LectusError.Unavailable.class);
    assertThat(db.read((tx, handle) -> shown("a", RevisionId.of("1-a"))).all()).isEmpty();
  }

  @Test
  void a_replicated_stub_is_found_at_the_leaf_that_it_extends() {
    db.write(with(replicated("a", "{}", "1-a"), ready("x", "1")));
    db.write(with(replicated("a", "{}", "3-c", "2-b", "1-a"), stub("x")));

    assertThat(names("a", RevisionId.of("3-c"))).containsExactly("x@0");
  }

  @Test
  void a_replicated_stub_is_found_in_the_same_request() {
    List<EditOutcome> outcomes =
        db.write(
            List.of(
                with(replicated("a", "{}", "1-a"), ready("x", "1")),
                with(replicated("a", "{}", "2-b", "1-a"), stub("x")),
                with(replicated("a", "{}", "2-c", "1-a"), stub("x"), stub("y"))));

    assertThat(names("a", RevisionId.of("2-b"))).containsExactly("x@0");
    assertThat(outcomes.get(2)).isInstanceOf(EditOutcome.Failed.class);
  }

  @Test
  void a_replicated_stub_is_found_by_its_digest_at_another_branch() {
    db.write(with(replicated("a", "{}", "2-b", "1-a"), ready("x", "1")));
    Md5 md5 = shown("a", RevisionId.of("2-b")).all().get(0).md5();
    EditedAttachment same = new EditedAttachment.Stub("x", Optional.empty(), Optional.of(md5));
    EditedAttachment other =
        new EditedAttachment.Stub("x", Optional.empty(), Optional.of(new Md5("00".repeat(16))));

    assertThat(refused(with(replicated("a", "{}", "2-c", "1-a"), other)).error())
        .isEqualTo("missing_stub");
    assertThat(refused(with(replicated("a", "{}", "2-c", "1-a"), stub("x"))).error())
        .isEqualTo("missing_stub");
    // The revision that it extends may have another content under the name.
    assertThat(refused(with(replicated("a", "{}", "3-c", "2-b", "1-a"), other)).error())
        .isEqualTo("missing_stub");
    db.write(with(replicated("a", "{}", "2-c", "1-a"), same));
    assertThat(names("a", RevisionId.of("2-c"))).containsExactly("x@0");
    assertThat(rows(AttachmentKeys.REFERENCES)).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(ints = {AttachmentResolution.MOST, AttachmentResolution.MOST + 1})
  void a_leaf_has_so_many_attachments_at_most(int count) {
    Content content = stored("1");
    List<EditedAttachment> all = new ArrayList<>();
    IntStream.range(0, count)
        .mapToObj(
            i ->
                new Attachment(
                    Integer.toString(i, 36), "", content.id(), content.md5(), 1, 1, false, 1))
        .forEach(it -> all.add(new EditedAttachment.Ready(it, true)));
    EditOutcome outcome = db.write(edit("a", null, "{}").withAttachments(new AttachmentEdits(all)));
    assertThat(outcome instanceof EditOutcome.Written)
        .isEqualTo(count == AttachmentResolution.MOST);
  }

  @Test
  void an_update_of_very_many_attachments_fits_into_a_transaction() {
    List<EditedAttachment> all = new ArrayList<>();
    List<EditedAttachment> stubs = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      all.add(ready("a" + i, "content " + i));
      stubs.add(stub("a" + i));
    }
    String id = "\0".repeat(200);
    RevisionId first = written(edit(id, null, "{}").withAttachments(new AttachmentEdits(all)));
    RevisionId second = written(edit(id, first, "{}").withAttachments(new AttachmentEdits(stubs)));

    assertThat(shown(id, second).all().size()).isEqualTo(500);
    written(deletion(id, second));
    assertThat(rows(AttachmentKeys.UNUSED)).isEqualTo(500);
  }
}
