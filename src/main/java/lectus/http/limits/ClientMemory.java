package lectus.http.limits;

import lectus.metrics.Measured;
import lectus.metrics.Meters;

/**
 * The accounts of the memory that clients make a server hold.
 *
 * @param bodies of running requests, in bytes of JSON: parsed they take a multiple
 * @param messages of WebSockets that are incomplete or wait to be handled
 * @param pages of feeds and large answers that wait for their clients
 * @param filters of live feeds, as long as these live
 * @param compression the places of compressed answers, whose memory is not of the heap
 */
public record ClientMemory(
    BodyMemory bodies,
    MemoryAccount messages,
    MemoryAccount pages,
    MemoryAccount filters,
    CompressionQuota compression)
    implements Measured {
  @Override
  public void describe(Meters meters) {
    bodies.describe(meters.with("account", "bodies"));
    messages.describe(meters.with("account", "messages"));
    pages.describe(meters.with("account", "pages"));
    filters.describe(meters.with("account", "filters"));
    compression.describe(meters);
  }
}
