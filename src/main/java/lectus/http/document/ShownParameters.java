package lectus.http.document;

import java.util.List;
import java.util.Optional;
import lectus.document.AttachmentsShown;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.http.message.QueryParameters;
import lectus.json.JsonValue;
import lectus.revision.RevisionId;

/** How a request wants attachments to be shown. */
final class ShownParameters {
  private ShownParameters() {}

  /**
   * @throws LectusException {@code bad_request}: {@code atts_since} is no list of revisions
   */
  static AttachmentsShown of(QueryParameters query) {
    Optional<List<RevisionId>> since = query.text("atts_since").map(ShownParameters::revisions);
    boolean withBytes = query.isTrue("attachments") || since.isPresent();
    return new AttachmentsShown(
        withBytes ? AttachmentsShown.Bytes.INLINE : AttachmentsShown.Bytes.NONE,
        query.isTrue("att_encoding_info"),
        since);
  }

  private static List<RevisionId> revisions(String json) {
    if (!(RequestJson.ofParameter(json) instanceof JsonValue.JsonArray array)) {
      throw LectusException.badRequest("Invalid list of revisions");
    }
    return RequestJson.revisions(array);
  }
}
