package lectus.abuse;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures how a well-behaved client fares beside attacks on a server that runs already: its p99 at
 * rest, then under each attack that is named, then under all of them at once.
 */
final class AbuseMain {
  private final int port;
  private final Duration time;
  private final long seed;
  private final GoodClient client;

  /** The p99 at rest, in milliseconds; 0: not measured yet. */
  private double rest;

  private AbuseMain(int port, Duration time, long seed, GoodClient client) {
    this.port = port;
    this.time = time;
    this.seed = seed;
    this.client = client;
  }

  /**
   * @param arguments the port on this machine, seconds for each measurement, the seed, then the
   *     names of attacks; none: each and all
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    int port = Integer.parseInt(arguments[0]);
    Duration time = Duration.ofSeconds(Long.parseLong(arguments[1]));
    long seed = Long.parseLong(arguments[2]);
    List<String> named = List.of(arguments).subList(3, arguments.length);
    LargeDatabase.create(port);
    try (GoodClient client = GoodClient.start(port)) {
      new AbuseMain(port, time, seed, client).measure(named);
      client.finish().forEach(System.out::println);
    }
    System.exit(0);
  }

  private void measure(List<String> named) throws IOException, InterruptedException {
    measure("a client at rest", List.of());
    for (Attack attack : Attack.all()) {
      if (named.isEmpty() || named.contains(attack.title())) {
        measure("beside " + attack.title(), List.of(attack));
      }
    }
    if (named.isEmpty()) {
      measure("beside all at once", Attack.all());
    }
  }

  private void measure(String what, List<Attack> attacks) throws IOException, InterruptedException {
    // What an attack left behind is to count for that attack alone.
    Thread.sleep(time.toMillis());
    client.latencies().reset();
    int refused = client.refused();
    String neighbours = attacks.isEmpty() ? "alone" : attack(attacks);
    if (attacks.isEmpty()) {
      Thread.sleep(time.toMillis());
    }
    System.out.printf(
        "| %s | %s; refused %d times; %s |%n",
        what, told(client.latencies()), client.refused() - refused, neighbours);
  }

  /**
   * Attackers are elsewhere as a rule. Here they have the same cores, so they get what the server
   * and the client leave.
   */
  private String attack(List<Attack> attacks) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("nice", "-n", "19", "java", "-Xmx768m", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.add(AttackMain.class.getName());
    command.addAll(List.of("" + port, "" + time.toSeconds(), "" + seed));
    attacks.forEach(attack -> command.add(attack.title()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return said.strip().replace('\n', ' ');
  }

  private String told(Latencies latencies) {
    if (latencies.count() == 0) {
      return "nothing was answered";
    }
    double p99 = latencies.percentile(99).toNanos() / 1e6;
    rest = rest == 0 ? p99 : rest;
    return String.format(
        "%d answers, p50 %.1f ms, p99 %.1f ms (%.1f × at rest), worst %.1f ms",
        latencies.count(),
        latencies.percentile(50).toNanos() / 1e6,
        p99,
        p99 / rest,
        latencies.percentile(100).toNanos() / 1e6);
  }
}
