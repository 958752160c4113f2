import java.nio.file.Path;
import java.time.InstantSource;
import lectus.database.Catalogue;
import lectus.document.write.SweepMetrics;
import lectus.document.write.TombstoneSweep;
import lectus.document.write.DocumentWriter;
import lectus.store.EmbeddedStores;
import lectus.store.LeasedRounds;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * Sweeps tombstones as a server does, but at once: a round that notes the time, and one that purges
 * what was there then. Keeps the store open for as many seconds as asked for, as a server that has
 * nothing to do.
 */
final class SweepTombstones {
  private SweepTombstones() {}

  public static void main(String[] arguments) throws InterruptedException {
    try (Store store = EmbeddedStores.open(Path.of(arguments[0]))) {
      TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
      Catalogue catalogue = new Catalogue(store, transactions, InstantSource.system());
      TombstoneSweep sweep =
          new TombstoneSweep(
              store,
              catalogue,
              new DocumentWriter(store, catalogue),
              new SweepMetrics(),
              InstantSource.system(),
              LeasedRounds.withoutPause(store, TombstoneSweep.TASK));
      round(sweep);
      Thread.sleep(3_000);
      long begin = System.nanoTime();
      round(sweep);
      System.out.printf("%.0f%n", (System.nanoTime() - begin) / 1e9);
      sweep.giveBack();
      Thread.sleep(1_000 * Long.parseLong(arguments[1]));
    }
  }

  private static void round(TombstoneSweep sweep) {
    boolean more;
    do {
      more = sweep.step();
    } while (more);
  }
}
