package lectus.abuse;

import java.time.Duration;
import java.util.List;

/**
 * Runs attacks in a process of their own, so that they take no time from the client beside them.
 */
final class AttackMain {
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
