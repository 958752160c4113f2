package lectus.database;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.InstantSource;
import java.util.stream.IntStream;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.database.StatisticsSubspace.StatisticsDelta;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class StatisticsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  @Test
  void counters_add_up_over_transactions_that_run_at_once() {
    Store store = stores.fresh();
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    Catalogue catalogue = new Catalogue(store, transactions, InstantSource.system());
    DatabaseHandle db = catalogue.create(DatabaseName.of("db"), CreationOptions.DEFAULT);
    ShardId shard = db.topology().shardIn(db.topology().current(), "any");
    IntStream.range(0, 64)
        .parallel()
        .forEach(
            number ->
                transactions.run(
                    tx -> {
                      StatisticsDelta delta = new StatisticsDelta(false);
                      delta.add("first" + number, 1, 0, 100, 1_000);
                      delta.add("second" + number, 1, 0, 10, 100);
                      delta.add("second" + number, -1, 1, -10, -100);
                      delta.addEntries(db.topology().current(), shard, "first" + number, 1);
                      delta.addEntries(db.topology().current(), shard, "second" + number, 1);
                      delta.applyTo(tx, db);
                      return null;
                    }));
    assertThat(transactions.<DatabaseCounters>read(tx -> DatabaseCounters.read(tx, db).join()))
        .isEqualTo(new DatabaseCounters(64, 64, 6_400, 64_000));
    assertThat(transactions.<Long>read(tx -> DatabaseCounters.entries(tx, db, shard).join()))
        .isEqualTo(128);
  }
}
