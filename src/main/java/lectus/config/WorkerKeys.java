package lectus.config;

/** How many threads work, and what may wait for them. */
public final class WorkerKeys {
  static final KeySection SECTION = new KeySection("Threads and queues");

  public static final ConfigurationKey<Integer> READERS =
      SECTION.number(
          "workers.readers",
          0,
          0,
          1_024,
          """
          Threads that read the store; feeds use at most half of them. Each may be
          making a page of 24 MB. 0: two for each core, but no more than one for each
          120 MB of the heap, and at least two.
          """);

  public static final ConfigurationKey<Integer> EXECUTORS =
      SECTION.number(
          "workers.executors",
          0,
          0,
          1_024,
          "Threads that run writing transactions. 0: one for each core.");

  public static final ConfigurationKey<Integer> JOB_TASKS =
      SECTION.number(
          "workers.job-tasks",
          4,
          1,
          64,
          """
          Changes shards that this server goes through at a time to build indexes. They
          are shared with the other servers, and let requests go first.
          """);

  private WorkerKeys() {}
}
