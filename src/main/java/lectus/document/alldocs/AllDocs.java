package lectus.document.alldocs;

import java.util.List;
import lectus.database.AskedDatabase;
import lectus.database.Catalogue;
import lectus.document.DatabaseReads;
import lectus.document.PageLimits;
import lectus.document.PagedBody;
import lectus.store.TransactionRunner;

/** Lists documents in the order of their ids. */
public final class AllDocs {
  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final PageLimits pages;

  public AllDocs(Catalogue catalogue, TransactionRunner transactions) {
    this(catalogue, transactions, PageLimits.DEFAULT);
  }

  AllDocs(Catalogue catalogue, TransactionRunner transactions, PageLimits pages) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.pages = pages;
  }

  /** Returns the whole body of an answer, with CouchDB's line ends. */
  public PagedBody answer(AskedDatabase asked, AllDocsQuery query) {
    ListBody body = new ListBody(new DatabaseReads(catalogue, transactions, asked), query, pages);
    return out -> {
      boolean more = body.appendNext(out);
      if (!more) {
        out.octet('\n');
      }
      return more;
    };
  }

  /** Returns the whole body of an answer to {@code /queries}. */
  public PagedBody answers(AskedDatabase asked, List<AllDocsQuery> queries) {
    DatabaseReads reads = new DatabaseReads(catalogue, transactions, asked);
    List<ListBody> bodies =
        queries.stream().map(query -> new ListBody(reads, query, pages)).toList();
    return new CombinedLists(reads, bodies);
  }
}
