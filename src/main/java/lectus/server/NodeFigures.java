package lectus.server;

import java.util.function.DoubleSupplier;
import lectus.http.Membership;
import lectus.metrics.Measured;
import lectus.metrics.Meters;

/**
 * What a server is besides the work that it does.
 *
 * @param certificateEnd when its certificate expires, in seconds since 1970
 */
record NodeFigures(Membership membership, DoubleSupplier certificateEnd) implements Measured {
  @Override
  public void describe(Meters meters) {
    meters.level(
        "lectus_cluster_members",
        "Members of the cluster that this server sees, itself included.",
        () -> membership.members().size());
    meters.level(
        "lectus_tls_certificate_end_seconds",
        "When the certificate expires, in seconds since 1970; without TLS never.",
        certificateEnd);
  }
}
