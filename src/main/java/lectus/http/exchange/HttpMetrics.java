package lectus.http.exchange;

import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import lectus.mango.query.QueryMetrics;
import lectus.metrics.CacheMetrics;
import lectus.metrics.LogCounts;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

/**
 * The figures that all event loops share.
 *
 * @param documentReads single documents that were read
 * @param commits of transactions
 * @param openDatabases that were used lately
 * @param queries what they looked at
 * @param accounts how often one had been looked up before
 * @param replications of documents, under CouchDB's names
 * @param log of the process
 */
public record HttpMetrics(
    RequestMetrics requests,
    DeliveryMetrics deliveries,
    LongSupplier documentReads,
    LongSupplier commits,
    LongSupplier openDatabases,
    QueryMetrics queries,
    CacheMetrics accounts,
    Supplier<Map<String, Long>> replications,
    LogCounts log)
    implements Measured {
  @Override
  public void describe(Meters meters) {
    requests.describe(meters);
    deliveries.describe(meters);
    queries.describe(meters);
    log.describe(meters);
  }
}
