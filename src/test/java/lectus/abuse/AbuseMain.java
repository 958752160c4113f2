package lectus.abuse;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.abuse.GoodClient.Latencies;
import lectus.abuse.Line.Target;
import lectus.abuse.Siege.LargeDatabase;
import lectus.store.testing.TestJava;

/**
 * Measures a well-behaved client beside attacks on a running server: its p99 at rest, then under
 * each named attack, then under all of them at once.
 *
 * <p>Each measurement, at rest as well, is taken twice in a row. During the first, the JIT compiler
 * still takes a core of its own for the code that has just begun to run. The second shows the
 * lasting cost of an attack, and is compared with the second one at rest.
 */
final class AbuseMain {
  private static final String ALL = "all";

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
   * @param arguments the port on this machine, seconds for each of two measurements, the seed, then
   *     the names of attacks, or {@value #ALL} for all at once; none: each and all
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
    rest = client.latencies().percentile(99).toNanos() / 1e6;
    for (Attack attack : Attack.all()) {
      if (named.isEmpty() || named.contains(attack.title())) {
        measure("beside " + attack.title(), List.of(attack));
      }
    }
    if (named.isEmpty() || named.contains(ALL)) {
      measure("beside all at once", Attack.all());
    }
  }

  private void measure(String what, List<Attack> attacks) throws IOException, InterruptedException {
    // The remains of an attack must not count for the next one.
    Thread.sleep(time.toMillis());
    int refused = client.refused();
    Optional<Process> neighbours =
        attacks.isEmpty() ? Optional.empty() : Optional.of(attack(attacks));
    String beginning = measured();
    String then = measured();
    System.out.printf(
        "| %s | %s; at first %s; refused %d times; %s |%n",
        what,
        then,
        beginning,
        client.refused() - refused,
        neighbours.isPresent() ? end(neighbours.get()) : "alone");
  }

  private String measured() throws InterruptedException {
    client.latencies().reset();
    Thread.sleep(time.toMillis());
    return told(client.latencies());
  }

  /**
   * Attackers usually run elsewhere. Here they share the cores, so they get what the server and the
   * client leave.
   */
  private Process attack(List<Attack> attacks) throws IOException {
    List<String> command = new ArrayList<>(List.of("nice", "-n", "19"));
    command.addAll(TestJava.command(768));
    command.add(AttackMain.class.getName());
    command.addAll(List.of("" + port, "" + 2 * time.toSeconds(), "" + seed));
    attacks.forEach(attack -> command.add(attack.title()));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  private static String end(Process attack) throws IOException, InterruptedException {
    String said = new String(attack.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    attack.waitFor();
    return said.strip().replace('\n', ' ');
  }

  private String told(Latencies latencies) {
    if (latencies.count() == 0) {
      return "nothing was answered";
    }
    double p99 = latencies.percentile(99).toNanos() / 1e6;
    return String.format(
        "%d answers, p50 %.1f ms, p99 %.1f ms%s, worst %.1f ms",
        latencies.count(),
        latencies.percentile(50).toNanos() / 1e6,
        p99,
        rest == 0 ? "" : String.format(" (%.1f × at rest)", p99 / rest),
        latencies.percentile(100).toNanos() / 1e6);
  }

  /**
   * Runs attacks in a process of their own, so that they take no time from the client beside them.
   */
  static final class AttackMain {
    private AttackMain() {}

    /**
     * @param arguments the port on this machine, seconds, the seed, then the names of attacks
     */
    public static void main(String[] arguments) {
      Target target = new Target(Integer.parseInt(arguments[0]));
      Duration time = Duration.ofSeconds(Long.parseLong(arguments[1]));
      long seed = Long.parseLong(arguments[2]);
      List<String> named = List.of(arguments).subList(3, arguments.length);
      List<Attack> attacks =
          Attack.all().stream().filter(attack -> named.contains(attack.title())).toList();
      try (Siege siege = Siege.begin(attacks, target, seed, time)) {
        siege.end().forEach(System.out::println);
      }
      System.out.println("its neighbours were told " + target.statuses());
      System.exit(0);
    }
  }
}
