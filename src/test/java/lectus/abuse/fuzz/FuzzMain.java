package lectus.abuse.fuzz;

/** Sends requests to a server that runs already, as many as it is told to, and tells what came. */
final class FuzzMain {
  private FuzzMain() {}

  /**
   * @param arguments the port on this machine, the seed, how many requests
   */
  public static void main(String[] arguments) throws InterruptedException {
    Fuzz fuzz = new Fuzz(Integer.parseInt(arguments[0]));
    fuzz.run(Long.parseLong(arguments[1]), Long.parseLong(arguments[2]));
    System.out.println(
        fuzz.sent() + " requests and messages, answers: " + fuzz.findings().statuses());
    fuzz.findings().all().forEach(System.out::println);
    System.exit(fuzz.findings().all().isEmpty() ? 0 : 1);
  }
}
