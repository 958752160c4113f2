package lectus.document;

import com.fasterxml.jackson.core.JsonToken;
import java.util.List;
import lectus.attachment.AttachmentList;
import lectus.json.ExplodedBody;
import lectus.json.JsonBuffer;
import lectus.json.JsonExploder;
import lectus.json.JsonInput;
import lectus.json.JsonLimits;
import lectus.revision.EditBranch;

/** Members that documents show beside their bodies, as leaves like those of a body. */
public final class MetadataLeaves {
  private static final String BEGIN = "{\"_id\":0";

  private MetadataLeaves() {}

  /** Returns the member {@code _attachments} with its stubs. */
  public static ExplodedBody ofAttachments(AttachmentList attachments) {
    JsonBuffer json = begin();
    AttachmentStubs.append(json, attachments, false);
    return explode(json);
  }

  /**
   * Returns the member {@code _conflicts}.
   *
   * @param branches all of the document's branches, the winner first
   */
  public static ExplodedBody ofConflicts(List<EditBranch> branches) {
    JsonBuffer json = begin();
    DocumentJson.appendConflicts(json, branches);
    return explode(json);
  }

  /** The members begin with a comma. */
  private static JsonBuffer begin() {
    return new JsonBuffer(512).ascii(BEGIN);
  }

  private static ExplodedBody explode(JsonBuffer json) {
    if (json.length() == BEGIN.length()) {
      return ExplodedBody.empty();
    }
    try (JsonInput input = JsonInput.of(json.octet('}').toBytes())) {
      for (int token = 0; token < 3; token++) {
        input.next();
      }
      JsonExploder exploder = new JsonExploder(input, JsonLimits.couchDb());
      while (input.next() == JsonToken.FIELD_NAME) {
        exploder.member(input.name());
      }
      return exploder.finish();
    }
  }
}
