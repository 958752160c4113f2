package lectus.bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import lectus.database.testing.TestLayout;
import lectus.derived.rows.JobList;
import lectus.derived.rows.JobWorker;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.Maintenance;
import lectus.store.DistantStore;
import lectus.store.SlowStore;
import lectus.store.Store;

/**
 * Measures how fast jobs build an index of a database with 1, 4 and 16 changes shards, a worker for
 * each, with and without the delays of a network. Arguments: documents, milliseconds that each read
 * and each commit takes more.
 */
public final class IndexJobsBenchmark {
  private static final int DOCUMENTS_AT_ONCE = 1_000;
  private static final long PAUSE_NANOS = 20_000_000;
  private static final String TEXT = "x".repeat(100);
  private static final String INDEX =
      "{\"language\":\"query\",\"views\":{\"v\":{\"map\":{\"fields\":{\"group\":\"asc\"},"
          + "\"partial_filter_selector\":{}},\"reduce\":\"_count\",\"options\":{\"def\":{"
          + "\"fields\":[\"group\"]}}}}}";

  private IndexJobsBenchmark() {}

  public static void main(String[] arguments) throws InterruptedException {
    int documents = Integer.parseInt(arguments[0]);
    Duration delay = Duration.ofMillis(Long.parseLong(arguments[1]));
    try (BenchFolder folder = new BenchFolder();
        Store store = SlowStore.open(folder.sub("store"), delay)) {
      double one = 0;
      for (int shards : List.of(1, 4, 16)) {
        HttpMetrics figures = figures(store, shards, documents, delay);
        one = shards == 1 ? figures.rate : one;
        String row =
            String.format(
                Locale.ROOT,
                "| %d | %d ms | %.0f | %.1f | %.1f |",
                shards,
                delay.toMillis(),
                figures.rate,
                figures.rate / one,
                figures.micros);
        System.out.println(row);
      }
    }
  }

  /**
   * @param rate documents in a second
   * @param micros of processors for each document
   */
  private record HttpMetrics(double rate, double micros) {}

  private static long processorNanos() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }

  private static HttpMetrics figures(Store store, int shards, int documents, Duration delay)
      throws InterruptedException {
    TestDatabase db = TestDatabase.open(store, "db" + shards);
    db.catalogue.create(db.name, TestLayout.options(false, shards));
    for (int from = 0; from < documents; from += DOCUMENTS_AT_ONCE) {
      List<Edit> edits = new ArrayList<>();
      for (int i = from; i < from + DOCUMENTS_AT_ONCE; i++) {
        String body = "{\"group\":\"g" + i % (documents / 20) + "\",\"text\":\"" + TEXT + "\"}";
        edits.add(TestDatabase.edit("d%09d".formatted(i), null, body));
      }
      db.write(edits);
    }
    db.put("_design/i", INDEX);
    long began = System.nanoTime();
    long processors = processorNanos();
    build(delay.isZero() ? store : new DistantStore(store, delay).store(), db, shards);
    double seconds = (System.nanoTime() - began) / 1e9;
    return new HttpMetrics(documents / seconds, (processorNanos() - processors) / 1e3 / documents);
  }

  private static void build(Store store, TestDatabase db, int workers) throws InterruptedException {
    TestDatabase server = TestDatabase.open(store, db.name.text());
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      JobWorker worker =
          new JobWorker(
              store,
              server.catalogue,
              Maintenance::rows,
              () -> false,
              new JobList(store, System::nanoTime));
      threads.add(new Thread(() -> work(worker, db)));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void work(JobWorker worker, TestDatabase db) {
    while (!db.catalogue.open(db.name).indexes().all().get(0).isReadable()) {
      if (!worker.step()) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }
}
