package lectus.clients.replicator;

/**
 * A moving average of the share of attempts without result, by which the replicator decides whether
 * a kind of request is worthwhile ({@code couch_replicator_worker}). Its retry after 37 seconds is
 * left out.
 *
 * @param average 0 to 1
 * @param threshold above which it is not
 * @param decay the weight of the latest attempt
 */
record FailureRatio(double average, double threshold, double decay) {
  static FailureRatio ofBulkGet() {
    return new FailureRatio(0, 0.5, 0.25);
  }

  static FailureRatio ofRevsDiff() {
    return new FailureRatio(0, 0.95, 0.4);
  }

  boolean pays() {
    return average <= threshold;
  }

  FailureRatio after(int successes, int attempts) {
    double latest = attempts > 0 ? (attempts - successes) / (double) attempts : 0;
    return new FailureRatio(average + decay * (latest - average), threshold, decay);
  }
}
