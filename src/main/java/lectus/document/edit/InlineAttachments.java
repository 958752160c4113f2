package lectus.document.edit;

import java.util.Optional;
import lectus.attachment.AttachmentIntake;
import lectus.attachment.AttachmentUpload;
import lectus.database.DatabaseName;

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
