package lectus.document.write;

import java.util.List;
import java.util.Optional;
import lectus.changes.log.PurgesSubspace;
import lectus.database.Catalogue;
import lectus.database.DatabaseRequest;
import lectus.database.Sequence;
import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionText;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/** The purges that a database remembers, oldest first. */
public final class PurgedInfos {
  private static final int ROWS_PER_PAGE = 100;

  /** A page ends with the row that reaches it. */
  private static final int PAGE_BYTES = 256 << 10;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;

  public PurgedInfos(Catalogue catalogue, TransactionRunner transactions) {
    this.catalogue = catalogue;
    this.transactions = transactions;
  }

  /** Returns the answer to {@code _purged_infos}. */
  public PagedBody answer(DatabaseRequest asked) {
    return new Body(new DatabaseReads(catalogue, transactions, asked));
  }

  private static final class Body implements PagedBody {
    private final DatabaseReads reads;
    private Optional<Sequence> after = Optional.empty();
    private String separator = "{\"purged_infos\":[";

    Body(DatabaseReads reads) {
      this.reads = reads;
    }

    @Override
    public boolean appendNext(JsonBuffer out) {
      List<PurgesSubspace.Purge> page =
          reads.read(
              (tx, db) -> Awaiting.await(new PurgesSubspace(db).after(tx, after, ROWS_PER_PAGE)));
      int enough = out.length() + PAGE_BYTES;
      int appended = 0;
      while (appended < page.size() && out.length() < enough) {
        append(page.get(appended++), out);
      }
      boolean more = appended < page.size() || page.size() == ROWS_PER_PAGE;
      if (!more) {
        out.ascii(after.isEmpty() ? separator : "").ascii("]}\n");
      }
      return more;
    }

    private void append(PurgesSubspace.Purge purge, JsonBuffer out) {
      out.ascii(separator).ascii("{\"id\":").string(purge.docId()).ascii(",\"revs\":");
      RevisionText.appendAll(out, purge.leaves());
      out.octet('}');
      separator = ",";
      after = Optional.of(purge.sequence());
    }
  }
}
