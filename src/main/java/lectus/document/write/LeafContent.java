package lectus.document.write;

import lectus.attachment.AttachmentList;
import lectus.json.ExplodedBody;

/** What a new leaf contains. */
public record LeafContent(ExplodedBody body, AttachmentList attachments) {}
