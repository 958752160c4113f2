package lectus.http.count;

import java.util.function.LongSupplier;
import lectus.measure.Measured;
import lectus.measure.Meters;

/**
 * The figures that all event loops share.
 *
 * @param documentReads single documents that were read
 * @param commits of transactions
 */
public record Figures(
    RequestFigures requests,
    DeliveryFigures deliveries,
    LongSupplier documentReads,
    LongSupplier commits)
    implements Measured {
  @Override
  public void describe(Meters meters) {
    requests.describe(meters);
    deliveries.describe(meters);
  }
}
