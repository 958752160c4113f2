package lectus.changes.page;

import lectus.document.PagedBody;
import lectus.json.JsonBuffer;

/** Puts bytes of attachments in place of their marks in rows. */
@FunctionalInterface
public interface RowFilling {

  /** Returns the text with the bytes, to be read piece by piece while the client takes it. */
  PagedBody fill(JsonBuffer text);
}
