package lectus.config;

/** Where programs read the server's figures. */
public final class MetricsKeys {
  static final KeySection SECTION = new KeySection("Metrics");

  public static final ConfigurationKey<Integer> METRICS_PORT =
      SECTION.number(
          "metrics.port",
          0,
          0,
          65_535,
          """
          A port on which Prometheus reads the server's figures without a log-in, at
          /metrics; 0: none. Admins find them at /_node/_local/_prometheus, too.
          """);

  public static final ConfigurationKey<String> METRICS_HOST =
      SECTION.key(
          "metrics.host",
          ValueType.TEXT,
          "127.0.0.1",
          """
          The address of this machine on which that port is. Whoever reaches it reads
          the figures. They name no database, no document and no user.
          """);

  private MetricsKeys() {}
}
