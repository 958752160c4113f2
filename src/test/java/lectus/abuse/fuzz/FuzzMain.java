package lectus.abuse.fuzz;

/** Sends a given number of requests to a running server, and reports the outcome. */
final class FuzzMain {
  private FuzzMain() {}

  /**
   * @param arguments the port on this machine, the seed, the number of requests
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
