package lectus.document.upgrade;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import lectus.database.DatabaseHandle;
import lectus.database.ValidatorsSubspace;
import lectus.document.DocumentId;
import lectus.document.alldocs.AllDocsRow;
import lectus.document.alldocs.AllDocsSubspace;
import lectus.document.design.ValidationMember;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/**
 * Lists the design documents that ask for validation in a database of the first format, a page per
 * transaction. It scans the all-docs index, which has a row for every live document.
 */
final class ValidatorsListing {
  private static final int DESIGNS_AT_ONCE = 100;

  /** The first id after those of design documents. */
  private static final String BEHIND_DESIGN = "_design0";

  private final TransactionRunner transactions;
  private final Function<Transaction, Optional<DatabaseHandle>> stillFormer;
  private final AllDocsSubspace allDocs;
  private final ValidatorsSubspace validators;

  /**
   * @param stillFormer the database as the transaction sees it; empty if nothing is left to do
   */
  ValidatorsListing(
      TransactionRunner transactions,
      DatabaseHandle former,
      Function<Transaction, Optional<DatabaseHandle>> stillFormer) {
    this.transactions = transactions;
    this.stillFormer = stillFormer;
    this.allDocs = new AllDocsSubspace(former);
    this.validators = new ValidatorsSubspace(former.prefix());
  }

  /**
   * @throws lectus.tuple.MalformedTupleException if a design document's row cannot be read
   */
  void run() {
    Optional<byte[]> begin = Optional.of(allDocs.key(DocumentId.DESIGN_PREFIX));
    while (begin.isPresent()) {
      byte[] from = begin.get();
      begin =
          transactions.<Optional<byte[]>>run(
              tx -> stillFormer.apply(tx).flatMap(db -> listPage(tx, db, from)));
    }
  }

  /** Returns where the next page begins; empty if there is none. */
  private Optional<byte[]> listPage(Transaction tx, DatabaseHandle db, byte[] begin) {
    List<KeyValue> rows =
        Awaiting.await(
            tx.snapshot().getRange(begin, allDocs.key(BEHIND_DESIGN), DESIGNS_AT_ONCE).asList());
    list(tx, db, rows.stream().map(allDocs::decode).toList());
    return rows.size() < DESIGNS_AT_ONCE
        ? Optional.empty()
        : Optional.of(ByteArrayUtil.join(rows.get(rows.size() - 1).getKey(), new byte[1]));
  }

  private void list(Transaction tx, DatabaseHandle db, List<AllDocsRow> designs) {
    List<CompletableFuture<Boolean>> validating = new ArrayList<>(designs.size());
    for (AllDocsRow design : designs) {
      validating.add(ValidationMember.isStored(tx, db, design.id(), design.winner()));
    }
    for (int i = 0; i < designs.size(); i++) {
      if (Awaiting.await(validating.get(i))) {
        validators.set(tx, designs.get(i).id(), true);
      }
    }
  }
}
