package lectus.jobs;

import com.apple.foundationdb.Transaction;
import java.util.List;
import lectus.changes.log.ChangeEntry;
import lectus.database.ShardId;
import lectus.document.ReadAhead;

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
   * Writes what is kept of the first of these documents, as they are in the store: of as many as
   * fit into a transaction, at least of one. The transaction conflicts with writers of each of
   * them, and no writer should conflict with it: rows are written without conflict ranges.
   *
   * @param shard where their changes entries are
   * @param documents in the order of their sequences, deleted and design documents among them; at
   *     least one
   * @param ahead what is known of the size of the documents before
   */
  Filling fill(Transaction tx, ShardId shard, List<ChangeEntry> documents, ReadAhead ahead);

  /**
   * All documents are in it; readers may use it once the transaction is committed. The database's
   * version key is moved by the caller.
   */
  void becomeReadable(Transaction tx);
}
