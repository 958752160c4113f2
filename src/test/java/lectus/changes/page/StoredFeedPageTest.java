package lectus.changes.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.audit.testing.SoundStore;
import lectus.changes.filter.FeedFilter;
import lectus.changes.page.PageReader.FeedPage;
import lectus.changes.testing.FeedDatabase;
import lectus.database.Catalogue;
import lectus.database.DatabaseRequest;
import lectus.derived.FeedDefinition;
import lectus.derived.rows.FeedCatalogue;
import lectus.derived.rows.FillingJobs;
import lectus.document.DatabaseReads;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.DistantStore;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pages of stored feeds. */
final class StoredFeedPageTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final int DOCUMENTS = 60;

  private final Store store = stores.fresh();
  private final FeedDatabase db = new FeedDatabase(store, 1);

  /** A document that left one of several channels is looked up: it may be in another. */
  @Test
  void documents_that_left_are_looked_up_as_long_as_one_transaction_has_time() {
    new FeedCatalogue(db.catalogue, db.transactions, new FillingJobs(store.rootPrefix()))
        .put(db.name, FeedDefinition.ofChannels("f", "ch"));
    for (int i = 0; i < DOCUMENTS; i++) {
      RevisionId first = db.put("d" + i, null, "{\"ch\":\"a\"}");
      db.put("d" + i, first, "{\"ch\":\"b\"}");
    }
    Store slow = new DistantStore(store, Duration.ofMillis(80)).store();
    TransactionRunner transactions = new TransactionRunner(slow, TransactionLimits.DEFAULT);
    Catalogue catalogue = new Catalogue(slow, transactions, InstantSource.system());
    FeedFilter filter = new FeedFilter.OfFeed("f", Set.of("a", "c"), true, Optional.empty());
    FeedOptions options = new FeedOptions(false, false, true, filter, 1, List.of());

    FeedPage page =
        new ChangesReader(catalogue, transactions, FeedRights.DEFAULT)
            .page(
                new DatabaseReads(catalogue, transactions, DatabaseRequest.byServer(db.name)),
                options,
                FeedPosition.BEGINNING,
                ChangesReader.NO_LIMIT,
                false,
                new JsonBuffer(64));

    assertThat(page.reachedEnd()).isFalse();
    assertThat(page.next()).isNotEqualTo(FeedPosition.BEGINNING);
  }
}
