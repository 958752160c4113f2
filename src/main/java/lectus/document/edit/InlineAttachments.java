package lectus.document.edit;

import java.util.ArrayList;
import java.util.List;
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
    List<EditedAttachment> all = new ArrayList<>();
    for (EditedAttachment attachment : edit.attachments().all()) {
      all.add(
          attachment instanceof EditedAttachment.Inline inline
              ? stored(database, inline)
              : attachment);
    }
    return edit.withAttachments(new AttachmentEdits(all));
  }

  private EditedAttachment stored(DatabaseName database, EditedAttachment.Inline inline) {
    AttachmentUpload upload = intake.begin(database, inline.name(), inline.type(), false);
    upload.write(inline.data(), 0, inline.data().length);
    return new EditedAttachment.Ready(
        upload.finish(Optional.empty(), inline.position(), Optional.empty()), true);
  }
}
