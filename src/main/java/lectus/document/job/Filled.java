package lectus.document.job;

import com.apple.foundationdb.Transaction;
import java.util.List;
import lectus.changes.ChangeEntry;
import lectus.database.ShardId;

/**
 * Something that has rows of documents, is kept in each transaction that writes a document, and
 * lacks those documents that were last written before it was defined. Made for one transaction, of
 * a database as that transaction sees it.
 *
 * <p>What a writer may rely on: a document is either handed to {@link #fill} as it was last
 * written, or it is written later, by a transaction that knows the definition. It may be both, one
 * after the other. So the writer clears what there may be of the document before, whether it is
 * there or not. No document is handed over that was written after the definition: so an edit that
 * leaves the winner, as one that makes a conflict, enters the document, too.
 */
public interface Filled {
  /** Returns the name of the design document that defines it, or a similar one, for people. */
  String definedBy();

  /**
   * Writes what is kept of these documents, as they are in the store. The transaction conflicts
   * with writers of each of them, and no writer should conflict with it: rows are written without
   * conflict ranges.
   *
   * @param shard where their changes entries are
   * @param documents in the order of their sequences, deleted and design documents among them
   * @return number of rows written
   */
  long fill(Transaction tx, ShardId shard, List<ChangeEntry> documents);

  /**
   * All documents are in it; readers may use it once the transaction is committed. The database's
   * version key is moved by the caller.
   */
  void becomeReadable(Transaction tx);
}
