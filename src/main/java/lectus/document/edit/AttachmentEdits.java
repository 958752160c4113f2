package lectus.document.edit;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentIntake;
import lectus.attachment.AttachmentList;
import lectus.attachment.AttachmentUpload;
import lectus.database.DatabaseName;
import lectus.error.LectusException;

/** The attachments of an edited document, each with another name. */
public record AttachmentEdits(List<EditedAttachment> all) {
  public static final AttachmentEdits NONE = new AttachmentEdits(List.of());

  public AttachmentEdits {
    all = List.copyOf(all);
  }

  /** Returns attachments that another document has, with the positions that they have there. */
  public static AttachmentEdits takenOver(AttachmentList attachments) {
    return new AttachmentEdits(
        attachments.all().stream()
            .<EditedAttachment>map(it -> new EditedAttachment.Ready(it, false))
            .toList());
  }

  /** Returns those that the document is to have already. */
  public List<EditedAttachment.Stub> stubs() {
    return of(EditedAttachment.Stub.class).toList();
  }

  /** Returns those whose contents the database may have already. */
  public List<EditedAttachment.Known> known() {
    return of(EditedAttachment.Known.class).toList();
  }

  /** Whether it has bytes that came inside of the document, and may still have to be stored. */
  public boolean hasInline() {
    return all.stream()
        .anyMatch(
            it -> it instanceof EditedAttachment.Inline || it instanceof EditedAttachment.Arrived);
  }

  /** Returns those whose bytes are to follow, in the document's order. */
  public List<EditedAttachment.Following> following() {
    return of(EditedAttachment.Following.class).toList();
  }

  /** Returns those whose contents are stored. */
  public List<Attachment> ready() {
    return of(EditedAttachment.Ready.class).map(EditedAttachment.Ready::attachment).toList();
  }

  /**
   * Returns the attachments of the new leaf. What this edit brings has the leaf's position, unless
   * the revision was made elsewhere.
   */
  public AttachmentList of(boolean isReplicated, long leafPosition) {
    return all().isEmpty()
        ? AttachmentList.NONE
        : new AttachmentList(
            of(EditedAttachment.Ready.class)
                .map(
                    it ->
                        it.isNew() && !isReplicated
                            ? it.attachment().at(leafPosition)
                            : it.attachment())
                .toList());
  }

  /**
   * @throws LectusException {@code attachment_too_large} (413)
   */
  void requireNoneLongerThan(long bytes) {
    for (EditedAttachment attachment : all) {
      if (attachment.lengthAsSent() > bytes) {
        throw AttachmentUpload.tooLarge(attachment.name());
      }
    }
  }

  /**
   * @throws LectusException {@code bad_request}: the document came without what is to follow it
   */
  public void requireNothingFollows() {
    for (EditedAttachment attachment : all) {
      if (attachment instanceof EditedAttachment.Following) {
        throw LectusException.badRequest("attachment shorter than expected");
      }
    }
  }

  /** Returns about how many bytes of memory they hold. */
  public long memoryBytes() {
    long bytes = 0;
    for (EditedAttachment attachment : all) {
      bytes += attachment.memoryBytes();
    }
    return bytes;
  }

  private <T extends EditedAttachment> Stream<T> of(Class<T> kind) {
    return all.stream().filter(kind::isInstance).map(kind::cast);
  }

  /** Stores the attachments that came inside of documents, ahead of the documents. */
  public record InlineAttachments(AttachmentIntake intake) {

    /** Returns the edit with all that came inside of it stored. Waits for the store. */
    public Edit stored(DatabaseName database, Edit edit) {
      if (!edit.attachments().hasInline()) {
        return edit;
      }
      return edit.withAttachments(
          new AttachmentEdits(
              edit.attachments().all().stream().map(it -> stored(database, it)).toList()));
    }

    private EditedAttachment stored(DatabaseName database, EditedAttachment attachment) {
      if (attachment instanceof EditedAttachment.Inline inline) {
        return stored(database, inline);
      }
      return attachment instanceof EditedAttachment.Arrived arrived
          ? new EditedAttachment.Ready(intake.asTypeWants(database, arrived.attachment()), true)
          : attachment;
    }

    private EditedAttachment stored(DatabaseName database, EditedAttachment.Inline inline) {
      AttachmentUpload upload = intake.begin(database, inline.name(), inline.type(), false);
      upload.write(inline.data(), 0, inline.data().length);
      return new EditedAttachment.Ready(
          upload.finish(Optional.empty(), inline.position(), Optional.empty()), true);
    }
  }
}
