package lectus.document.read;

import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.json.JsonBuffer;

/** Writes one page of an answer after the other, without the bytes of attachments. */
public interface FilledPages {
  /**
   * @param inserts receives where bytes of attachments go
   * @return whether there are more pages
   */
  boolean appendNext(JsonBuffer page, Inserts inserts);

  /** Returns the pages with the bytes put into them. */
  static PagedBody body(DatabaseReads reads, FilledPages pages) {
    return new FilledBody(reads, pages);
  }
}
