package lectus.server;

/**
 * Where figures are served without a log-in.
 *
 * @param host an address of this machine
 */
public record MetricsSettings(String host, int port) {}
