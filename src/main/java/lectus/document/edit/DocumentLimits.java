package lectus.document.edit;

import lectus.document.DocumentId;
import lectus.json.JsonLimits;

/**
 * What a document may be.
 *
 * @param idBytes longest id, in bytes of UTF-8
 * @param json limits of the body
 */
public record DocumentLimits(int idBytes, JsonLimits json) {
  public static final DocumentLimits DEFAULT =
      new DocumentLimits(DocumentId.DEFAULT_MAX_BYTES, JsonLimits.couchDb());
}
