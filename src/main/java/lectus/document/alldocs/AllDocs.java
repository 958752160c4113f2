package lectus.document.alldocs;

import java.util.List;
import lectus.database.AskedDatabase;
import lectus.database.Catalogue;
import lectus.document.DatabaseReads;
import lectus.document.PageLimits;
import lectus.document.PagedBody;
import lectus.document.body.FilledBody;
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
    DatabaseReads reads = new DatabaseReads(catalogue, transactions, asked);
    ListBody body = new ListBody(reads, query, pages);
    return filled(
        reads,
        query.hasBytes(),
        out -> {
          boolean more = body.appendNext(out);
          if (!more) {
            out.octet('\n');
          }
          return more;
        });
  }

  /** Returns the whole body of an answer to {@code /queries}. */
  public PagedBody answers(AskedDatabase asked, List<AllDocsQuery> queries) {
    DatabaseReads reads = new DatabaseReads(catalogue, transactions, asked);
    List<ListBody> bodies =
        queries.stream().map(query -> new ListBody(reads, query, pages)).toList();
    boolean hasBytes = queries.stream().anyMatch(AllDocsQuery::hasBytes);
    return filled(reads, hasBytes, new CombinedLists(reads, bodies));
  }

  private static PagedBody filled(DatabaseReads reads, boolean hasBytes, PagedBody pages) {
    return hasBytes ? new FilledBody(reads, pages) : pages;
  }
}
