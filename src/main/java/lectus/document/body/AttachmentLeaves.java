package lectus.document.body;

import lectus.attachment.AttachmentList;
import lectus.json.ExplodedBody;
import lectus.json.JsonBuffer;
import lectus.json.JsonExploder;
import lectus.json.JsonInput;
import lectus.json.JsonLimits;

/** The member {@code _attachments} with its stubs, as leaves like those of a body. */
public final class AttachmentLeaves {
  private AttachmentLeaves() {}

  public static ExplodedBody of(AttachmentList attachments) {
    if (attachments.isEmpty()) {
      return ExplodedBody.empty();
    }
    // The stubs begin with a comma.
    JsonBuffer json = new JsonBuffer(512).ascii("{\"_id\":0");
    AttachmentStubs.append(json, attachments, false);
    try (JsonInput input = JsonInput.of(json.octet('}').toBytes())) {
      for (int token = 0; token < 4; token++) {
        input.next();
      }
      JsonExploder exploder = new JsonExploder(input, JsonLimits.couchDb());
      exploder.member(input.name());
      return exploder.finish();
    }
  }
}
