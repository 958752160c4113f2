package lectus.document.edit;

import lectus.attachment.AttachmentIntake.AttachmentSettings;
import lectus.document.DocumentId;
import lectus.json.JsonLimits;

/**
 * The limits on a document.
 *
 * @param idBytes maximum length of an id, in bytes of UTF-8
 * @param json limits on the body
 * @param attachments limits on attachments
 */
public record DocumentLimits(int idBytes, JsonLimits json, AttachmentSettings attachments) {
  public static final DocumentLimits DEFAULT =
      new DocumentLimits(
          DocumentId.DEFAULT_MAX_BYTES, JsonLimits.couchDb(), AttachmentSettings.DEFAULT);
}
